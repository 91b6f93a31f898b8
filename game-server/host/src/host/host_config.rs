//! The settings of a host.

use std::path::PathBuf;
use std::sync::Arc;

use ambit_transport::quic::Fingerprint;

use crate::process_part::ProcessPart;
use crate::record_folder::RecordFolder;
use crate::web_certificates::WebCertificates;

/// The settings of a host.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Where players connect.
    pub address: String,
    /// The certificate that players are shown.
    pub fingerprint: Fingerprint,
    /// Those that browsers are shown.
    pub web_certificates: Arc<WebCertificates>,
    /// Rooms at most.
    pub capacity: u32,
    /// A name for people.
    pub label: String,
    /// What its rooms are made of.
    pub build: String,
    /// Directory of ground truth, a file a room.
    pub trace: Option<PathBuf>,
    /// Where recordings are made, a file a room.
    pub record: Option<RecordFolder>,
    /// Which part of its process it is.
    pub part: ProcessPart,
}
