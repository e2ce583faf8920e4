"""Every failure that Quire knows: a tree of classes, and functions that word the errors.

`SettingsError`, `UsageError` and `AttemptFailed` are worded by their callers; each of the others
has a function here.

QuireError                     code, reason, error_type, message, remedy
├── DocumentRefused            there is no document to read: the job fails
│   ├── EngineUnavailable      the engine asked for by name lacks a setting
│   └── StartRefused           the workers do not accept how the job was started
├── JobError                   the job itself cannot be used as asked
│   ├── BadInput
│   ├── JobConflict            its id is bound to another request, or its run is in the way
│   ├── JobNotFound
│   ├── NotOwner
│   ├── NotRunning
│   └── NothingToRetry
├── JobWaits                   the job is kept, and waits for what is missing
├── SealedError                it is encrypted, and this process lacks the key
├── StoredObjectGone           an attempt needs what is gone from the store
│   └── SourceGone
├── BucketDenied               S3 denies access
├── DiskFull                   a disk takes no more (an OSError too)
├── SettingsError              a setting is unknown or impossible: refused at start
├── UsageError                 a command line that cannot work
└── AttemptFailed              one attempt at one page on one route failed
                               (its FailureKind says what that means for page and route)

Callers write `raise errors.too_many_pages(found=..., allowed=...)` and branch on classes. Programs
outside see code and reason; docs/errors.md is generated from the declarations here.
"""

from quire.domain.errors.absent import (
    JobWaits,
    build_not_current,
    build_not_served,
    history_does_not_fit,
    no_worker_for_models,
    no_worker_polls,
    no_worker_with_role,
    step_keeps_failing,
    workers_busy,
    workers_lack_keys,
    workers_too_old,
)
from quire.domain.errors.attempt import (
    DESCRIBED,
    MEANING,
    AttemptFailed,
    Meaning,
)
from quire.domain.errors.disk import (
    DiskFull,
    disk_errors,
    disk_full,
    is_disk_full,
    with_folder,
)
from quire.domain.errors.document import (
    EngineUnavailable,
    cancelled_before_fetch,
    damaged_pdf,
    deadline_before_fetch,
    empty_file,
    engine_unavailable,
    locked_to_certificate,
    neither_pdf_nor_image,
    no_image_opens,
    no_images_in_folder,
    no_such_page,
    no_worker_in_time,
    not_a_pdf,
    password_missing,
    password_wrong,
    pdf_among_several,
    pdf_cannot_be_opened,
    pdf_without_pages,
    too_many_bytes,
    too_many_images,
    too_many_pages,
)
from quire.domain.errors.failed_attempt import (
    answer_cut_off,
    answer_empty,
    answer_loops,
    answer_malformed,
    answer_packed,
    answer_refused,
    answer_too_large,
    answer_too_long,
    answer_unrelated,
    attempt_broke,
    call_failed,
    document_not_drawn,
    image_damaged,
    image_too_large,
    model_declined,
    ocr_failed,
    ocr_process_died,
    page_not_drawn,
    page_out_of_range,
    page_unreadable,
    page_without_area,
    reader_cannot_start,
    vendor_redirects,
)
from quire.domain.errors.job import (
    BadInput,
    JobConflict,
    JobNotFound,
    NothingToRetry,
    NotOwner,
    NotRunning,
    bad_input,
    bad_start,
    between_steps,
    job_conflict,
    job_in_the_way,
    job_not_found,
    job_refused,
    not_owner,
    not_running,
    nothing_to_retry,
    result_damaged,
    result_gone,
    start_unknown,
    still_running,
)
from quire.domain.errors.origin import (
    BucketDenied,
    bucket_denied,
    document_gone,
    download_cut_short,
    download_stalls,
    download_too_slow,
    file_not_found,
    file_not_permitted,
    no_s3_credentials,
    no_such_bucket,
    no_such_host,
    no_such_object,
    not_a_file,
    not_on_server,
    previous_result_gone,
    private_address,
    redirect_to_nowhere,
    server_answers,
    server_denies,
    server_too_slow,
    server_unreachable,
    stored_file_vanished,
    too_many_redirects,
    transfer_failed,
    url_not_of_web,
    url_not_understood,
    url_without_object,
)
from quire.domain.errors.page import (
    attempt_ended_unknown,
    attempt_too_long,
    every_route_rests,
    no_model_configured,
    page_answer_lost,
    page_called_off,
    page_read_by_ocr,
    page_text_lost,
    page_too_late,
    workers_lost,
)
from quire.domain.errors.service import (
    SealedError,
    broken_text,
    command_broke,
    embedded_server_failed,
    embedded_server_missing,
    folder_unusable,
    interrupted,
    job_ended,
    namespace_missing,
    no_query_answer,
    sealed_payload,
    sealed_secret,
    search_attributes_missing,
    settings_file_unusable,
    step_failed_unknown,
    storage_failed,
    temporal_refused,
    temporal_silent,
    temporal_unreachable,
    unknown_setting,
    url_among_several,
)
from quire.domain.errors.start import (
    StartRefused,
    bad_signature,
    not_continued,
    outside_roots,
    unsigned_origin,
    unsigned_request,
    unsigned_start,
)
from quire.domain.errors.stored_object import (
    SourceGone,
    StoredObjectGone,
    brief_missing,
    source_missing,
    store_folder_vanishes,
)
from quire.domain.errors.tree import (
    DocumentRefused,
    Entry,
    JobError,
    QuireError,
    SettingsError,
    UsageError,
    entries,
    is_ours,
)

__all__ = [
    "DESCRIBED", "MEANING", "AttemptFailed", "BadInput", "BucketDenied", "DiskFull",
    "DocumentRefused", "EngineUnavailable", "Entry", "JobConflict", "JobError", "JobNotFound",
    "JobWaits", "Meaning", "NotOwner", "NotRunning", "NothingToRetry", "QuireError", "SealedError",
    "SettingsError", "SourceGone", "StartRefused", "StoredObjectGone", "UsageError",
    "answer_cut_off", "answer_empty", "answer_loops", "answer_malformed", "answer_packed",
    "answer_refused", "answer_too_large", "answer_too_long", "answer_unrelated", "attempt_broke",
    "attempt_ended_unknown", "attempt_too_long", "bad_input", "bad_signature", "bad_start",
    "between_steps", "brief_missing", "broken_text", "bucket_denied", "build_not_current",
    "build_not_served", "call_failed", "cancelled_before_fetch", "command_broke", "damaged_pdf",
    "deadline_before_fetch", "disk_errors", "disk_full", "document_gone", "document_not_drawn",
    "download_cut_short", "download_stalls", "download_too_slow", "embedded_server_failed",
    "embedded_server_missing", "empty_file", "engine_unavailable", "entries", "every_route_rests",
    "file_not_found", "file_not_permitted", "folder_unusable", "history_does_not_fit",
    "image_damaged", "image_too_large", "interrupted", "is_disk_full", "is_ours", "job_conflict",
    "job_ended", "job_in_the_way", "job_not_found", "job_refused", "locked_to_certificate",
    "model_declined", "namespace_missing", "neither_pdf_nor_image", "no_image_opens",
    "no_images_in_folder", "no_model_configured", "no_query_answer", "no_s3_credentials",
    "no_such_bucket", "no_such_host", "no_such_object", "no_such_page", "no_worker_for_models",
    "no_worker_in_time", "no_worker_polls", "no_worker_with_role", "not_a_file", "not_a_pdf",
    "not_continued", "not_on_server", "not_owner", "not_running", "nothing_to_retry", "ocr_failed",
    "ocr_process_died", "outside_roots", "page_answer_lost", "page_called_off", "page_not_drawn",
    "page_out_of_range", "page_read_by_ocr", "page_text_lost", "page_too_late", "page_unreadable",
    "page_without_area", "password_missing", "password_wrong", "pdf_among_several",
    "pdf_cannot_be_opened", "pdf_without_pages", "previous_result_gone", "private_address",
    "reader_cannot_start", "redirect_to_nowhere", "result_damaged", "result_gone", "sealed_payload",
    "sealed_secret", "search_attributes_missing", "server_answers", "server_denies",
    "server_too_slow", "server_unreachable", "settings_file_unusable", "source_missing",
    "start_unknown", "step_failed_unknown", "step_keeps_failing", "still_running", "storage_failed",
    "store_folder_vanishes", "stored_file_vanished", "temporal_refused", "temporal_silent",
    "temporal_unreachable", "too_many_bytes", "too_many_images", "too_many_pages",
    "too_many_redirects", "transfer_failed", "unknown_setting", "unsigned_origin",
    "unsigned_request", "unsigned_start", "url_among_several", "url_not_of_web",
    "url_not_understood", "url_without_object", "vendor_redirects", "with_folder", "workers_busy",
    "workers_lack_keys", "workers_lost", "workers_too_old",
]  # fmt: skip
