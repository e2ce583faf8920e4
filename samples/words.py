"""What the demo document says."""

from typing import NamedTuple


class Chart(NamedTuple):
    title: str
    bars: tuple[tuple[str, int], ...]


class Table(NamedTuple):
    title: str
    rows: tuple[tuple[str, ...], ...]


PROSE = (
    "Harbour Museum: the year in brief",
    "The museum stands where the old rope walk ended, between the fish hall and the sea wall. "
    "For most of the year it is the quietest building on the quay; in August it is the loudest. "
    "This report says what we did, what it cost and what we mean to do next.",
    "In March we opened the lamp room. The great lens, taken down from the skerry light in 1961 "
    "and kept in forty-two crates ever since, was put together again by two retired keepers and "
    "a watchmaker's apprentice. It turns where it once floated on mercury, on a plain steel "
    "bearing, and throws a beam that children try to outrun along the corridor wall.",
    "In May the pilot cutter Alma came home. She had been a ferry, a smuggler's store and, for "
    "eleven years, a hen house. Her planks are sound below the waterline. Volunteers have given "
    "her 3,100 hours so far, and the sailmaker promises a mainsail by spring.",
    "Not everything went well. The October storm took nine metres of the slipway and the roof of "
    "the paint shed, and for six days the reading room was warmed by a single stove. No object "
    "was lost. The logbooks had been carried upstairs the evening before, because the oldest of "
    "our keepers did not like the look of the gulls.",
    "Next year we shall teach knots on Sundays, lend model boats to the school, and answer every "
    "letter within a week. The last of these will be the hardest.",
)

CHART = Chart(
    "Visitors from April to November",
    (
        ("Apr", 420), ("May", 760), ("Jun", 1130), ("Jul", 1610),
        ("Aug", 1890), ("Sep", 980), ("Oct", 510), ("Nov", 340),
    ),
)  # fmt: skip

TIDES = (
    "August brought the most visitors since the museum opened, and November the fewest: the "
    "storm kept the causeway closed for six days. The line above the bars follows the bars and "
    "is there because the treasurer likes it. Spring tides below are given in metres above the "
    "datum stone by the door."
)

TABLE = Table(
    "Highest water of each season",
    (
        ("Season", "Date", "Height (m)", "Reached"),
        ("Spring", "21 March", "3.42", "the third step"),
        ("Summer", "13 July", "3.18", "the second step"),
        ("Autumn", "19 October", "4.07", "the door sill"),
        ("Winter", "2 January", "3.66", "the boot rack"),
    ),
)

LETTER = """Skerry Light, 4 November 1887

To the Harbour Office.

Sir,

I beg to report that the lamp was lit every night
of October without fail, the gale of the nineteenth
included. On that night the sea came over the
gallery and put out the stove, but not the light.

The French brig Zéphyr, Captain André Lefèvre, out
of Saint-Malo for Göteborg, passed so near that
we heard the crew singing. I gave two blasts of the
horn and she stood off. Her mate, one Señor Núñez,
has since sent us a cheese.

We are in want of:
  12 gallons of oil
   2 panes of glass, 14 by 20 inches
   1 cat, the mice being very bold

Our assistant, Björn, is well again.

Your obedient servant,
Élise Håkansson, Keeper
"""
