//! TLS above the listener of HTTP.
//!
//! The handshake is a part of the connection's first read: a client that delays it does not delay
//! others, and the connection's time limit holds for it, too.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};

use super::listener::{HttpListener, HttpStream};

pub(super) struct TlsListener {
    listener: HttpListener,
    acceptor: TlsAcceptor,
}

/// A connection with TLS, before and after the handshake.
pub(super) enum SecuredStream {
    Handshake(Accept<HttpStream>),
    Open(TlsStream<HttpStream>),
}

impl TlsListener {
    pub(super) fn new(listener: HttpListener, tls: rustls::ServerConfig) -> Self {
        Self { listener, acceptor: TlsAcceptor::from(Arc::new(tls)) }
    }
}

impl Listener for TlsListener {
    type Io = SecuredStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (SecuredStream, SocketAddr) {
        let (stream, address) = self.listener.accept().await;
        let handshake = self.acceptor.accept(stream);
        (SecuredStream::Handshake(handshake), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl SecuredStream {
    /// The connection, once the handshake is done.
    fn poll_open(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<Pin<&mut TlsStream<HttpStream>>>> {
        if let Self::Handshake(handshake) = self {
            *self = Self::Open(ready!(Pin::new(handshake).poll(context))?);
        }
        match self {
            Self::Open(stream) => Poll::Ready(Ok(Pin::new(stream))),
            Self::Handshake(_) => Poll::Pending,
        }
    }
}

impl AsyncRead for SecuredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_open(context))?.poll_read(context, buffer)
    }
}

impl AsyncWrite for SecuredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut stream = ready!(self.poll_open(context))?;
        stream.as_mut().get_mut().get_mut().0.note_answer();
        stream.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut stream = ready!(self.poll_open(context))?;
        stream.as_mut().get_mut().get_mut().0.note_answer();
        stream.poll_write_vectored(context, slices)
    }

    /// Also before the handshake: hyper asks once, at the start.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_open(context))?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Open(stream) => Pin::new(stream).poll_shutdown(context),
            // Nothing was agreed on yet.
            Self::Handshake(_) => Poll::Ready(Ok(())),
        }
    }
}
