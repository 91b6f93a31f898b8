//! By what clients know a server: the proofs of their accounts name it.

use ambit_transport::quic::Fingerprint;

/// As what clients know this server, or the servers of its cluster.
#[derive(Clone, Debug, Default)]
pub struct ServerMarks {
    /// The certificates that they pin; those of the cluster's servers are in its list, too.
    pub certificates: Vec<Fingerprint>,
    /// The names in a certificate that an authority has signed.
    pub names: Vec<String>,
}
