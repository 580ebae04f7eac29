//! Goes through JSON that comes in pieces, in linear time, and keeps none of it but where it is.

/// Levels of lists and objects that are followed.
const MAX_DEPTH: usize = 1_024;

/// Bytes of a number.
const MAX_SCALAR: usize = 64;

/// What stands in a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonToken<'t> {
    Open(Bracket),
    Close(Bracket),
    /// A piece of a string between its quotation marks, escapes as they are.
    Piece {
        is_name: bool,
        text: &'t [u8],
    },
    /// The end of a string: of the name of a member, or of a value.
    StringEnd {
        is_name: bool,
    },
    /// A number, `true`, `false` or `null`.
    Scalar(&'t str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bracket {
    Object,
    List,
}

/// The text is not JSON, or is nested too deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not JSON, or nested more than {MAX_DEPTH} levels deep")]
pub struct NotJson;

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    /// After `[`.
    ValueOrEnd,
    /// After `{`.
    NameOrEnd,
    /// After `,` in an object.
    Name,
    Colon,
    CommaOrEnd,
    /// Nothing but white space: the value is complete.
    End,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Inside {
    Nothing,
    String { is_name: bool, is_escaped: bool },
    Scalar,
}

/// Where in a JSON text it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonScanner {
    open: Vec<Bracket>,
    expected: Expected,
    inside: Inside,
    /// The number or word that it is inside of.
    scalar: Vec<u8>,
}

impl Default for JsonScanner {
    fn default() -> Self {
        Self { open: Vec::new(), expected: Expected::Value, inside: Inside::Nothing, scalar: Vec::new() }
    }
}

impl JsonScanner {
    /// Reads the next bytes. `take` gets each token; a string can come in several pieces.
    ///
    /// # Errors
    /// See [`NotJson`]. Then nothing more can be read.
    pub fn scan(&mut self, bytes: &[u8], mut take: impl FnMut(JsonToken<'_>)) -> Result<(), NotJson> {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            rest = match &mut self.inside {
                Inside::String { is_name, is_escaped } => {
                    let is_name = *is_name;
                    let (rest, is_end) =
                        scan_string(rest, is_escaped, |text| take(JsonToken::Piece { is_name, text }))?;
                    if is_end {
                        self.inside = Inside::Nothing;
                        self.expected = if is_name { Expected::Colon } else { self.after_value() };
                        take(JsonToken::StringEnd { is_name });
                    }
                    rest
                }
                Inside::Scalar if is_scalar(*byte) => {
                    if self.scalar.len() >= MAX_SCALAR {
                        return Err(NotJson);
                    }
                    self.scalar.push(*byte);
                    after
                }
                Inside::Scalar => {
                    self.end_scalar(&mut take)?;
                    rest
                }
                Inside::Nothing => {
                    self.begin(*byte, &mut take)?;
                    after
                }
            };
        }
        Ok(())
    }

    /// Returns true if the text was one whole value.
    pub fn end(&mut self, take: impl FnMut(JsonToken<'_>)) -> bool {
        if self.inside == Inside::Scalar && self.end_scalar(take).is_err() {
            return false;
        }
        self.inside == Inside::Nothing && self.expected == Expected::End
    }

    /// A byte outside of strings and numbers.
    fn begin(&mut self, byte: u8, mut take: impl FnMut(JsonToken<'_>)) -> Result<(), NotJson> {
        let is_value = matches!(self.expected, Expected::Value | Expected::ValueOrEnd);
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {}
            b'"' if is_value => self.inside = Inside::String { is_name: false, is_escaped: false },
            b'"' if matches!(self.expected, Expected::Name | Expected::NameOrEnd) => {
                self.inside = Inside::String { is_name: true, is_escaped: false };
            }
            b'{' | b'[' if is_value && self.open.len() < MAX_DEPTH => {
                let (bracket, expected) = match byte {
                    b'{' => (Bracket::Object, Expected::NameOrEnd),
                    _ => (Bracket::List, Expected::ValueOrEnd),
                };
                self.open.push(bracket);
                self.expected = expected;
                take(JsonToken::Open(bracket));
            }
            b'}' if matches!(self.expected, Expected::NameOrEnd | Expected::CommaOrEnd) => {
                self.close(Bracket::Object, take)?;
            }
            b']' if matches!(self.expected, Expected::ValueOrEnd | Expected::CommaOrEnd) => {
                self.close(Bracket::List, take)?;
            }
            b':' if self.expected == Expected::Colon => self.expected = Expected::Value,
            b',' if self.expected == Expected::CommaOrEnd => {
                self.expected = match self.open.last() {
                    Some(Bracket::Object) => Expected::Name,
                    Some(Bracket::List) | None => Expected::Value,
                };
            }
            _ if is_value && is_scalar(byte) => {
                self.inside = Inside::Scalar;
                self.scalar.push(byte);
            }
            _ => return Err(NotJson),
        }
        Ok(())
    }

    fn close(&mut self, bracket: Bracket, mut take: impl FnMut(JsonToken<'_>)) -> Result<(), NotJson> {
        if self.open.pop() != Some(bracket) {
            return Err(NotJson);
        }
        self.expected = self.after_value();
        take(JsonToken::Close(bracket));
        Ok(())
    }

    fn end_scalar(&mut self, mut take: impl FnMut(JsonToken<'_>)) -> Result<(), NotJson> {
        let text = str::from_utf8(&self.scalar).map_err(|_| NotJson)?;
        serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|_| NotJson)?;
        take(JsonToken::Scalar(text));
        self.scalar.clear();
        self.inside = Inside::Nothing;
        self.expected = self.after_value();
        Ok(())
    }

    const fn after_value(&self) -> Expected {
        if self.open.is_empty() { Expected::End } else { Expected::CommaOrEnd }
    }
}

/// Reads the next bytes of a string. Returns what is after its end, or nothing and false.
fn scan_string<'b>(
    bytes: &'b [u8],
    is_escaped: &mut bool,
    take: impl FnOnce(&[u8]),
) -> Result<(&'b [u8], bool), NotJson> {
    let mut end = None;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if *is_escaped => *is_escaped = false,
            b'\\' => *is_escaped = true,
            b'"' => {
                end = Some(at);
                break;
            }
            0..0x20 => return Err(NotJson),
            _ => {}
        }
    }
    let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
    if !piece.is_empty() {
        take(piece);
    }
    Ok((rest.get(1..).unwrap_or_default(), end.is_some()))
}

const fn is_scalar(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'-' | b'+' | b'.' | b'E')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The tokens of a text that comes in such pieces, strings in one piece; `None` if it is not JSON.
    fn tokens(pieces: &[&[u8]]) -> Option<Vec<String>> {
        let (mut scanner, mut tokens, mut string) = (JsonScanner::default(), Vec::new(), Vec::new());
        let mut take = |token: JsonToken<'_>| match token {
            JsonToken::Piece { text, .. } => string.extend_from_slice(text),
            JsonToken::StringEnd { is_name } => {
                let text = String::from_utf8_lossy(&std::mem::take(&mut string)).into_owned();
                tokens.push(format!("{text}{}", if is_name { ":" } else { "." }));
            }
            JsonToken::Open(_) | JsonToken::Close(_) | JsonToken::Scalar(_) => tokens.push(format!("{token:?}")),
        };
        for piece in pieces {
            scanner.scan(piece, &mut take).ok()?;
        }
        scanner.end(&mut take).then_some(tokens)
    }

    proptest! {
        #[test]
        fn it_accepts_what_is_json_wherever_it_is_cut(text in json(), cut in 0_usize..40) {
            let whole = tokens(&[text.as_bytes()]);
            let (left, right) = text.as_bytes().split_at(cut.min(text.len()));
            prop_assert_eq!(&tokens(&[left, right]), &whole);
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            prop_assert_eq!(&tokens(&bytes), &whole);
            // What it takes for JSON may have escapes that are none, and nothing else that is wrong.
            let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            prop_assert!(is_json == whole.is_some() || (whole.is_some() && text.contains('\\')), "{}", text);
        }
    }

    fn json() -> impl Strategy<Value = String> {
        let pieces = [
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"a\"",
            "\"b\\\"c\"",
            "\"",
            "\\",
            "1",
            "-2.5e3",
            "true",
            "null",
            " ",
            "\n",
            "01",
            "x",
        ];
        let wild = prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..12).prop_map(|parts| parts.concat());
        let leaf = prop::sample::select(vec!["1", "\"a\\n\"", "null", "[]", "{}"]).prop_map(str::to_owned);
        let valid = leaf.prop_recursive(4, 30, 4, |inner| {
            let items = prop::collection::vec(inner, 0..4);
            items.prop_map(|items| {
                let members: Vec<String> = items.iter().map(|item| format!("\"k\": {item}")).collect();
                if items.len() % 2 == 0 {
                    format!("[{}]", items.join(", "))
                } else {
                    format!("{{{}}}", members.join(","))
                }
            })
        });
        prop_oneof![wild, valid]
    }

    #[test]
    fn depth_and_numbers_are_bounded() {
        let deep = |levels: usize| [vec![b'['; levels], vec![b']'; levels]].concat();
        assert!(tokens(&[&deep(MAX_DEPTH)]).is_some());
        assert_eq!(tokens(&[&deep(MAX_DEPTH + 1)]), None);
        assert!(tokens(&[&[b'1'; MAX_SCALAR]]).is_some());
        assert_eq!(tokens(&[&[b'1'; MAX_SCALAR + 1]]), None);
        assert_eq!(tokens(&[b"\"a\nb\""]), None);
        assert_eq!(tokens(&[b"1 1"]), None);
        assert_eq!(tokens(&[b""]), None);
    }
}
