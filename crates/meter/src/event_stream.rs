//! Reads the events of a stream as the standard has them (WHATWG HTML, Server-sent events), however it is cut.
//!
//! Lines end with CR LF, LF or CR, and nothing else. The `data` of an event can have several lines. Nothing is kept but
//! the beginning of the name of a field, and of the name of an event.

/// Bytes of the name of an event. Those that mean something here are shorter.
const MAX_NAME: usize = 32;

/// A part of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventPart<'e> {
    /// A piece of its data.
    Data(&'e [u8]),
    /// Its data is complete. `name` is what `event` says, cut if it is long.
    End { name: &'e [u8] },
}

/// Where in a line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the name of a field, with nothing of it before if the line has just begun.
    Field,
    /// Between the colon and the value, where one space is left out.
    BeforeValue,
    Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Data,
    Event,
    /// A comment, or a field that means nothing here.
    Other,
}

/// Where in a stream it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventStream {
    place: Place,
    /// The name of the field, cut after what `data` and `event` need.
    field: Vec<u8>,
    /// The field whose value it is in.
    value_of: Field,
    /// The line before ended with CR, so that a LF belongs to it.
    is_after_cr: bool,
    name: Vec<u8>,
    has_data: bool,
    /// Bytes of a byte order mark that may begin the stream; all of it if the stream has begun.
    mark: usize,
}

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

impl Default for EventStream {
    fn default() -> Self {
        Self {
            place: Place::Field,
            field: Vec::new(),
            value_of: Field::Other,
            is_after_cr: false,
            name: Vec::new(),
            has_data: false,
            mark: 0,
        }
    }
}

impl EventStream {
    /// Reads the next bytes.
    pub fn read(&mut self, bytes: &[u8], mut take: impl FnMut(EventPart<'_>)) {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            let is_in_line = !matches!(byte, b'\r' | b'\n');
            if BYTE_ORDER_MARK.get(self.mark) == Some(byte) {
                self.mark += 1;
                rest = after;
            } else if *byte == b'\n' && self.is_after_cr {
                self.is_after_cr = false;
                rest = after;
            } else if !is_in_line {
                self.end_line(&mut take);
                self.is_after_cr = *byte == b'\r';
                rest = after;
            } else {
                self.mark = BYTE_ORDER_MARK.len();
                self.is_after_cr = false;
                rest = self.read_in_line(rest, &mut take);
            }
        }
    }

    /// The stream has ended. An event whose last line or empty line is missing counts too: providers leave it out.
    pub fn end(&mut self, mut take: impl FnMut(EventPart<'_>)) {
        if self.place != Place::Field || !self.field.is_empty() {
            self.end_line(&mut take);
        }
        self.end_event(&mut take);
    }

    /// Reads as far as one thing goes. Returns what is after it; less than `bytes`, which has no end of a line first.
    fn read_in_line<'b>(&mut self, bytes: &'b [u8], mut take: impl FnMut(EventPart<'_>)) -> &'b [u8] {
        let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len());
        let (line, _) = bytes.split_at(end);
        let read = match self.place {
            Place::Field => {
                let colon = line.iter().position(|byte| *byte == b':');
                let name = line.get(..colon.unwrap_or(line.len())).unwrap_or_default();
                let kept = (b"event".len() + 1).saturating_sub(self.field.len());
                self.field.extend(name.iter().take(kept));
                if colon.is_some() {
                    self.begin_value(&mut take);
                }
                name.len() + usize::from(colon.is_some())
            }
            Place::BeforeValue => {
                self.place = Place::Value;
                usize::from(line.first() == Some(&b' '))
            }
            Place::Value => {
                match self.value_of {
                    Field::Data => take(EventPart::Data(line)),
                    Field::Event => {
                        let kept = MAX_NAME.saturating_sub(self.name.len());
                        self.name.extend(line.iter().take(kept));
                    }
                    Field::Other => {}
                }
                line.len()
            }
        };
        bytes.get(read..).unwrap_or_default()
    }

    /// The name of the field is complete.
    fn begin_value(&mut self, mut take: impl FnMut(EventPart<'_>)) {
        self.place = Place::BeforeValue;
        self.value_of = match self.field.as_slice() {
            b"data" => Field::Data,
            b"event" => Field::Event,
            _ => Field::Other,
        };
        match self.value_of {
            Field::Data if self.has_data => take(EventPart::Data(b"\n")),
            Field::Data => self.has_data = true,
            Field::Event => self.name.clear(),
            Field::Other => {}
        }
    }

    fn end_line(&mut self, mut take: impl FnMut(EventPart<'_>)) {
        if self.place == Place::Field && self.field.is_empty() {
            return self.end_event(take);
        }
        if self.place == Place::Field {
            // A line without a colon is a field without a value.
            self.begin_value(&mut take);
        }
        self.place = Place::Field;
        self.field.clear();
    }

    fn end_event(&mut self, mut take: impl FnMut(EventPart<'_>)) {
        if self.has_data {
            take(EventPart::End { name: &self.name });
        }
        self.has_data = false;
        self.name.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<String> {
        let (mut stream, mut events, mut data) = (EventStream::default(), Vec::new(), Vec::new());
        let mut take = |part: EventPart<'_>| match part {
            EventPart::Data(piece) => data.extend_from_slice(piece),
            EventPart::End { name } => {
                let data = String::from_utf8_lossy(&std::mem::take(&mut data)).into_owned();
                events.push(format!("{}={data}", String::from_utf8_lossy(name)));
            }
        };
        for piece in pieces {
            stream.read(piece, &mut take);
        }
        stream.end(&mut take);
        events
    }

    #[test]
    fn events_are_what_the_standard_says() {
        let table: [(&[u8], &[&str]); 15] = [
            (b"data: a\n\ndata: b\n\n", &["=a", "=b"]),
            (b"data: a\r\n\r\ndata:b\r\n\r\n", &["=a", "=b"]),
            (b"data: a\r\rdata: b\r\r", &["=a", "=b"]),
            (b"data: a\ndata: b\n\n", &["=a\nb"]),
            (b"event: error\ndata: a\n\ndata: b\n\n", &["error=a", "=b"]),
            (b"data: a\nevent:error\n\n", &["error=a"]),
            (b"event: error\n\n", &[]),
            (b": comment\nid: 7\nretry: 5\n\ndata:  a \n\n", &["= a "]),
            (b"data\ndata\n\n", &["=\n"]),
            (b"dat: a\ndataa: b\n data: c\n\n", &[]),
            (b"\xEF\xBB\xBFdata: a\n\n", &["=a"]),
            ("data: a\u{2028}b\u{85}c\u{b}d\n\n".as_bytes(), &["=a\u{2028}b\u{85}c\u{b}d"]),
            // Its last lines are missing.
            (b"data: a\n\ndata: b", &["=a", "=b"]),
            (b"data: a\n\ndata: b\n", &["=a", "=b"]),
            (b"\n\n\n", &[]),
        ];
        for (bytes, expected) in table {
            assert_eq!(events([bytes]), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }

    proptest! {
        #[test]
        fn a_stream_is_the_same_wherever_it_is_cut(bytes in stream(), cuts in prop::collection::vec(0_usize..60, 0..4)) {
            let whole = events([bytes.as_slice()]);
            prop_assert_eq!(&events(bytes.chunks(1)), &whole);
            let mut pieces = Vec::new();
            let mut rest = bytes.as_slice();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            prop_assert_eq!(&events(pieces), &whole);
        }
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let pieces: [&[u8]; 12] =
            [b"data", b"event", b":", b" ", b"\n", b"\r", b"\r\n", b"a", b"error", b"\n\n", b"\xEF\xBB\xBF", b"\xEF"];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..30).prop_map(|parts| parts.concat())
    }
}
