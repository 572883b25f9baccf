"""DoctorStores: the stores that code of this package gets."""

from dataclasses import dataclass

from recollect.doctor.store.doctor import DoctorStore
from recollect.doctor.store.encryption import EncryptionReportStore
from recollect.erasure.store.bundle import ErasureStores


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorStores(ErasureStores):
    """The stores of this package and of those below."""

    doctor: DoctorStore
    encryption: EncryptionReportStore
