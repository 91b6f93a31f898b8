//! WebTransport, the server's end: one session of a browser on a connection of its own.
//!
//! A browser speaks HTTP/3 and asks for a session by a `CONNECT` request, whose path names the
//! protocol. What is sent in the session has a prefix: a datagram the quarter of the number of the
//! request's stream, a stream its kind and that number. A session ends by a capsule on the
//! request's stream, with a code and a reason, or with that stream or its connection.
//!
//! `web-transport-proto` encodes and decodes HTTP/3's parts, with bounds for each of them. Of a
//! connection, one session is served. Another request instead of it is answered with a status, and
//! one beside it rejected; what breaks HTTP/3 ends the connection with the code for that (RFC 9114,
//! section 8.1). Streams of HTTP/3 that are not needed stay open and unread, and flow control
//! bounds what waits in them.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use quinn_proto::{ConnectionError, VarInt};
use tokio::io::AsyncReadExt as _;
use tokio::sync::watch;
use tokio::time::timeout;
use web_transport_proto::http::StatusCode;
use web_transport_proto::{
    Capsule, ConnectError, ConnectRequest, ConnectResponse, Frame, Http3CapsuleReader, Settings,
    SettingsError, VarInt as WebVarInt, error_to_http3,
};

use crate::driver::{DrivenConnection, RecvStream, SendStream};

/// The request, and the session's only stream.
const BIDIRECTIONAL_STREAMS: u32 = 2;
/// The longest reason in the capsule that ends a session.
const MAX_REASON: usize = 1_024;
/// What a browser may send on the request's stream after the request: one capsule, and some that
/// mean nothing. The reader keeps what it cannot decode yet.
const MAX_CAPSULES_BYTES: u64 = 64 << 10;
/// How long the capsule that ends a session may take to reach the browser, and the browser to close
/// the connection.
const CLOSE_WITHIN: Duration = Duration::from_millis(500);

/// Codes of HTTP/3 (RFC 9114, section 8.1) and of its header compression (RFC 9204, section 6).
mod http3_code {
    pub(super) const NO_ERROR: u32 = 0x100;
    pub(super) const CLOSED_CRITICAL_STREAM: u32 = 0x104;
    pub(super) const FRAME_UNEXPECTED: u32 = 0x105;
    pub(super) const EXCESSIVE_LOAD: u32 = 0x107;
    pub(super) const SETTINGS_ERROR: u32 = 0x109;
    pub(super) const MISSING_SETTINGS: u32 = 0x10a;
    pub(super) const REQUEST_REJECTED: u32 = 0x10b;
    pub(super) const REQUEST_INCOMPLETE: u32 = 0x10d;
    pub(super) const MESSAGE_ERROR: u32 = 0x10e;
    pub(super) const QPACK_DECOMPRESSION_FAILED: u32 = 0x200;
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebError {
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    #[error("HTTP/3 settings: {0}")]
    Settings(#[from] SettingsError),
    #[error("the browser does not support WebTransport")]
    Unsupported,
    #[error("the request for a session: {0}")]
    Request(#[from] ConnectError),
    #[error("no protocol is served at the path {0:?}")]
    UnknownPath(String),
}

impl WebError {
    /// The answer to a request that is in order, and for which there is no session.
    fn status(&self) -> Option<StatusCode> {
        match self {
            // Nothing is here for a client that only speaks HTTP/3, whatever it asks for.
            Self::Unsupported
            | Self::UnknownPath(_)
            | Self::Request(ConnectError::WrongMethod(Some(_))) => Some(StatusCode::NOT_FOUND),
            // RFC 9220, section 3.
            Self::Request(ConnectError::WrongProtocol(_)) => Some(StatusCode::NOT_IMPLEMENTED),
            Self::Request(ConnectError::FieldSectionTooLarge) => {
                Some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
            }
            _ => None,
        }
    }

    /// The code that ends the connection.
    fn http3_code(&self) -> u32 {
        use ConnectError as Request;
        match self {
            _ if self.status().is_some() => http3_code::NO_ERROR,
            Self::Settings(SettingsError::UnexpectedFrame(_)) => http3_code::MISSING_SETTINGS,
            Self::Settings(SettingsError::InvalidSize) => http3_code::SETTINGS_ERROR,
            Self::Settings(SettingsError::FrameTooLarge)
            | Self::Request(Request::FrameTooLarge) => http3_code::EXCESSIVE_LOAD,
            Self::Settings(_) => http3_code::CLOSED_CRITICAL_STREAM,
            Self::Request(Request::UnexpectedFrame(_)) => http3_code::FRAME_UNEXPECTED,
            Self::Request(Request::UnexpectedEnd | Request::Io(_)) => {
                http3_code::REQUEST_INCOMPLETE
            }
            Self::Request(Request::QpackError(_)) => http3_code::QPACK_DECOMPRESSION_FAILED,
            _ => http3_code::MESSAGE_ERROR,
        }
    }
}

/// A session of a browser.
#[derive(Debug)]
pub(crate) struct WebSession {
    /// The number of the request's stream.
    id: u64,
    /// What its datagrams begin with.
    prefix: Bytes,
    end: watch::Sender<Option<SessionEnd>>,
}

/// How a session has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SessionEnd {
    Here {
        code: u32,
        reason: String,
    },
    ByBrowser {
        code: u32,
    },
    /// Without a word of the browser: the connection is lost, or the request was reset or is no
    /// capsules.
    Lost,
}

/// The streams that have to stay open as long as the session.
struct SessionStreams {
    request: (SendStream, RecvStream),
    _settings: (SendStream, Vec<RecvStream>),
}

impl WebSession {
    /// Waits for a request at one of the `paths`, and begins the session. The number of the path.
    /// Anything else ends the connection. Has to be called within a tokio runtime.
    pub(crate) async fn accept(
        connection: &DrivenConnection,
        paths: &[&str],
    ) -> Result<(Arc<Self>, usize), WebError> {
        let accepted = Self::try_to_accept(connection, paths).await;
        if let Err(error) = &accepted {
            let code = VarInt::from_u32(error.http3_code());
            connection.close(code, error.to_string().as_bytes());
        }
        accepted
    }

    async fn try_to_accept(
        connection: &DrivenConnection,
        paths: &[&str],
    ) -> Result<(Arc<Self>, usize), WebError> {
        connection.set_max_bi_streams(BIDIRECTIONAL_STREAMS);
        let (own_settings, (settings, its_settings)) =
            tokio::try_join!(write_settings(connection), read_settings(connection))?;
        let (mut answer, mut question) = connection.accept_bi().await?;
        let found = if settings.supports_webtransport() == 0 {
            Err(WebError::Unsupported)
        } else {
            read_path(&mut question, paths).await
        };
        if let Some(status) = found.as_ref().err().and_then(WebError::status) {
            ConnectResponse::new(status).write(&mut answer).await?;
            answer.finish();
            // The client may end the connection itself, when it has read that.
            let _ = timeout(CLOSE_WITHIN, connection.closed()).await;
        }
        let found = found?;
        ConnectResponse::OK.write(&mut answer).await?;
        let session = Arc::new(Self::new(question.id().into()));
        let streams =
            SessionStreams { request: (answer, question), _settings: (own_settings, its_settings) };
        let ended = session.end.subscribe();
        tokio::spawn(run(connection.clone(), Arc::downgrade(&session), ended, streams));
        Ok((session, found))
    }

    fn new(id: u64) -> Self {
        let mut prefix = BytesMut::new();
        let quarter = WebVarInt::from_u64(id / 4).expect("a quarter of QUIC's highest number");
        quarter.encode(&mut prefix);
        Self { id, prefix: prefix.freeze(), end: watch::Sender::new(None) }
    }

    /// The next stream that the browser opens in the session. Others are rejected.
    pub(crate) async fn accept_bi(
        &self,
        connection: &DrivenConnection,
    ) -> io::Result<(SendStream, RecvStream)> {
        loop {
            let (mut sending, mut receiving) = match connection.accept_bi().await {
                Ok(stream) => stream,
                Err(error) => {
                    self.ended().await;
                    return Err(error.into());
                }
            };
            if self.begins(&mut receiving).await {
                return Ok((sending, receiving));
            }
            let rejected = VarInt::from_u32(http3_code::REQUEST_REJECTED);
            sending.reset(rejected);
            receiving.stop(rejected);
        }
    }

    /// Whether a stream begins as one of the session.
    async fn begins(&self, stream: &mut RecvStream) -> bool {
        let kind = WebVarInt::read(stream).await;
        kind.is_ok_and(|kind| kind == Frame::WEBTRANSPORT.0)
            && WebVarInt::read(stream).await.is_ok_and(|id| id.into_inner() == self.id)
    }

    /// What is in a datagram of the connection; `None` if it is not of the session.
    pub(crate) fn unwrap_datagram(&self, mut datagram: Bytes) -> Option<Bytes> {
        let is_ours = datagram.starts_with(&self.prefix);
        is_ours.then(|| {
            datagram.advance(self.prefix.len());
            datagram
        })
    }

    pub(crate) fn wrap_datagram(&self, datagram: &[u8]) -> Bytes {
        let mut wrapped = BytesMut::with_capacity(self.overhead() + datagram.len());
        wrapped.put_slice(&self.prefix);
        wrapped.put_slice(datagram);
        wrapped.freeze()
    }

    /// Bytes by which a datagram grows.
    pub(crate) fn overhead(&self) -> usize {
        self.prefix.len()
    }

    /// Ends the session, and the connection after it.
    pub(crate) fn close(&self, code: u32, reason: &str) {
        let mut reason = reason.to_owned();
        reason.truncate(reason.floor_char_boundary(MAX_REASON));
        self.set_end(SessionEnd::Here { code, reason });
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    /// The code by which the browser has ended the session.
    pub(crate) fn browser_code(&self) -> Option<u32> {
        match *self.end.borrow() {
            Some(SessionEnd::ByBrowser { code }) => Some(code),
            _ => None,
        }
    }

    /// Waits until either end closes the session, or its connection is lost; then it is known who
    /// ended it.
    pub(crate) async fn ended(&self) {
        // The sender is `self`.
        let _ = self.end.subscribe().wait_for(Option::is_some).await;
    }

    fn set_end(&self, end: SessionEnd) {
        self.end.send_if_modified(|known| {
            let is_first = known.is_none();
            known.get_or_insert(end);
            is_first
        });
    }
}

async fn write_settings(connection: &DrivenConnection) -> Result<SendStream, WebError> {
    let mut settings = Settings::default();
    settings.enable_webtransport(1);
    let mut stream = connection.open_uni().await?;
    settings.write(&mut stream).await?;
    Ok(stream)
}

/// Reads the browser's settings. Also returns the streams that came up to then.
async fn read_settings(
    connection: &DrivenConnection,
) -> Result<(Settings, Vec<RecvStream>), WebError> {
    let mut streams = Vec::new();
    loop {
        let mut stream = connection.accept_uni().await?;
        let settings = Settings::read(&mut stream).await;
        streams.push(stream);
        match settings {
            Ok(settings) => return Ok((settings, streams)),
            // Those of header compression: without a dynamic table nothing comes through them.
            Err(SettingsError::UnexpectedStreamType(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The number of the path at which the request asks for a session.
async fn read_path(request: &mut RecvStream, paths: &[&str]) -> Result<usize, WebError> {
    let request = ConnectRequest::read(request).await?;
    let path = request.url.path();
    let found = paths.iter().position(|known| *known == path);
    found.ok_or_else(|| WebError::UnknownPath(path.to_owned()))
}

/// Keeps the session's streams open until the session ends or its last handle is dropped, and ends
/// the connection then. The session learns how it ended in any case.
async fn run(
    connection: DrivenConnection,
    session: Weak<WebSession>,
    mut ended: watch::Receiver<Option<SessionEnd>>,
    SessionStreams { request: (answer, question), _settings: (_own, mut others) }: SessionStreams,
) {
    // Never ends: a connection that is lost may have left a capsule, which `read_end` still reads.
    let hold_streams = async {
        while let Ok(stream) = connection.accept_uni().await {
            others.push(stream);
        }
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        code = read_end(question) => {
            if let Some(session) = session.upgrade() {
                let by_browser = code.map(|code| SessionEnd::ByBrowser { code });
                session.set_end(by_browser.unwrap_or(SessionEnd::Lost));
            }
            match code {
                Some(code) => close(&connection, code, ""),
                None => close(&connection, ErrorCode::Malformed as u32, "the request was broken"),
            }
        }
        end = async { ended.wait_for(Option::is_some).await.ok().and_then(|end| end.clone()) } => {
            if let Some(SessionEnd::Here { code, reason }) = end {
                let _ = timeout(CLOSE_WITHIN, send_end(&connection, answer, code, &reason)).await;
                close(&connection, code, &reason);
            } else {
                connection.close(VarInt::from_u32(http3_code::NO_ERROR), b"");
            }
        }
        never = hold_streams => match never {},
    }
}

/// The code by which the browser ends the session; 0 if it just ends the request. `None` if the
/// request is reset, breaks the protocol or is too long, or the connection is lost.
async fn read_end(request: RecvStream) -> Option<u32> {
    let mut request = request.take(MAX_CAPSULES_BYTES);
    let mut capsules = Http3CapsuleReader::new(&mut request);
    loop {
        match capsules.read().await {
            Ok(Some(Capsule::CloseWebTransportSession { code, .. })) => return Some(code),
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(_) => return None,
        }
    }
    // The limit looks like the end.
    (request.limit() > 0).then_some(0)
}

/// Sends the capsule that ends the session and waits until the browser has closed the connection.
async fn send_end(connection: &DrivenConnection, mut answer: SendStream, code: u32, reason: &str) {
    let mut capsule = BytesMut::new();
    let end = Capsule::CloseWebTransportSession { code, reason: reason.to_owned() };
    end.encode(&mut capsule);
    let mut frame = BytesMut::new();
    Frame::DATA.encode(&mut frame);
    WebVarInt::from_u32(capsule.len() as u32).encode(&mut frame);
    frame.put(capsule);
    if answer.write_all(&frame).await.is_ok() {
        answer.finish();
        connection.closed().await;
    }
}

fn close(connection: &DrivenConnection, code: u32, reason: &str) {
    let code = VarInt::from_u64(error_to_http3(code)).expect("HTTP/3's codes fit into QUIC's");
    connection.close(code, reason.as_bytes());
}
