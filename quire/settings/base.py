"""What all settings have in common: frozen, no unknown names, and any case where it is harmless."""

from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class SettingsModel(BaseModel):
    """Settings by field; where a field names its words, they may be written in any case."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _any_case(cls, value: Any, info: ValidationInfo) -> Any:
        annotation = cls.model_fields[info.field_name or ""].annotation
        if not isinstance(value, str) or not (
            annotation is bool or get_origin(annotation) is Literal
        ):
            return value
        # Switches know their words themselves: true, yes, on, 1.
        written = value.strip().lower()
        return next((word for word in get_args(annotation) if word.lower() == written), written)
