//! The socket of a connection. It reports to the connection whether bytes were read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// What hears of reads.
pub(super) trait ReadObserver {
    /// Bytes were read.
    fn on_bytes_read(&self);

    /// The runtime has nothing to read.
    fn on_nothing_to_read(&self, stream: &TcpStream);
}

pub(super) struct Socket<C> {
    stream: TcpStream,
    connection: Arc<C>,
}

impl<C> Socket<C> {
    pub(super) const fn new(stream: TcpStream, connection: Arc<C>) -> Self {
        Self { stream, connection }
    }
}

impl<C: ReadObserver> AsyncRead for Socket<C> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buf);
        if polled.is_pending() {
            self.connection.on_nothing_to_read(&self.stream);
        } else if buf.filled().len() > before {
            self.connection.on_bytes_read();
        }
        polled
    }
}

impl<C> AsyncWrite for Socket<C> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
