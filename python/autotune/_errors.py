# SPDX-License-Identifier: Apache-2.0
"""Exceptions. Their texts come from libautotune or the tool, if these report the error."""

from __future__ import annotations


class Error(RuntimeError):
    """Anything that autotune cannot do; the text says what is wrong and what to try."""


class UsageError(Error, ValueError):
    """An argument is missing or invalid."""


class NotFoundError(Error, LookupError):
    """No configuration is valid for these sizes."""


class NoDeviceError(Error):
    """This needs a GPU, or another device, that is not here."""


class ClosedError(UsageError):
    """A target or a kernel is used after close()."""
