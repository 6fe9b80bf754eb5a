//! Lines and fields of the file that LOAD DATA reads.
//!
//! # Source
//! The MySQL manual, "LOAD DATA Statement", field and line handling.

use std::io;

use base::memory::Charge;
use sql::plan::LoadFormat;

use crate::context::LoadSource;

/// Bytes of a usual line and its buffers, whose charge stays from line to line.
const LINE_BYTES: usize = 256 << 10;

/// Where the text of a field begins and ends, or NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldSpan {
    start: usize,
    end: usize,
    null: bool,
}

/// The fields of a line, escapes and enclosures resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'l> {
    bytes: &'l [u8],
    spans: &'l [FieldSpan],
}

impl<'l> Fields<'l> {
    /// Number of fields.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.spans.len()
    }

    /// The text of a field; `None` for NULL.
    #[inline]
    pub(crate) fn field(self, i: usize) -> Option<&'l [u8]> {
        let FieldSpan { start, end, null } = self.spans[i];
        (!null).then(|| &self.bytes[start..end])
    }
}

/// A line that was read; [`LineReader::fields`] gives its fields.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The texts of its fields, unless they are where the file's text is.
    bytes: Vec<u8>,
    fields: Vec<FieldSpan>,
    /// The fields are in the reader's buffer.
    is_in_buffer: bool,
    /// The line has more fields than were asked for.
    pub(crate) has_more: bool,
}

impl Line {
    /// Ends an enclosed field that begins at `start`; `saw_null`: it has the escape `\N`, which is NULL if it
    /// is all of it.
    fn push_enclosed(&mut self, start: usize, saw_null: bool) {
        let end = self.bytes.len();
        let null = saw_null && &self.bytes[start..] == b"N";
        self.fields.push(FieldSpan { start, end, null });
    }
}

/// How a field ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldEnd {
    Field,
    Line,
    File,
}

/// Reads lines.
pub(crate) struct LineReader<'s> {
    source: &'s mut dyn LoadSource,
    format: &'s LoadFormat,
    buffer: Vec<u8>,
    chunk: Vec<u8>,
    at: usize,
    ended: bool,
    /// For the buffers and the current line.
    charge: Charge,
    /// The bytes that end a plain field.
    stops: Option<Stops>,
}

/// What ends a field and a line, and the escape, where each is one byte.
#[derive(Clone, Copy)]
struct Stops {
    field: u8,
    line: u8,
    escape: u8,
}

/// Words of a field that are looked at before a library is called: most fields are shorter.
const SHORT_FIELD_WORDS: usize = 2;

impl Stops {
    fn of(format: &LoadFormat) -> Option<Self> {
        let (&[field], &[line]) = (&*format.field_end, &*format.line_end) else { return None };
        Some(Stops { field, line, escape: format.escape.unwrap_or(field) })
    }

    /// What ends here; `None`: nothing does.
    #[inline(always)]
    fn end_of(self, byte: u8) -> Option<FieldEnd> {
        match byte {
            byte if byte == self.field => Some(FieldEnd::Field),
            byte if byte == self.line => Some(FieldEnd::Line),
            _ => None,
        }
    }

    /// Where the first of them is.
    #[inline(always)]
    fn find(self, text: &[u8]) -> Option<usize> {
        let (words, _) = text.as_chunks::<8>();
        for (at, word) in words.iter().take(SHORT_FIELD_WORDS).enumerate() {
            let word = u64::from_le_bytes(*word);
            let marks = marks(word, self.field) | marks(word, self.line) | marks(word, self.escape);
            if marks != 0 {
                return Some(8 * at + marks.trailing_zeros() as usize / 8);
            }
        }
        self.find_far(text, 8 * words.len().min(SHORT_FIELD_WORDS))
    }

    #[inline(never)]
    fn find_far(self, text: &[u8], from: usize) -> Option<usize> {
        Some(from + memchr::memchr3(self.field, self.line, self.escape, &text[from..])?)
    }
}

/// The upper bit of the lowest byte of `word` that is `byte`, and perhaps of bytes above it; 0 if none is.
#[inline(always)]
fn marks(word: u64, byte: u8) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let differing = word ^ (LOW * u64::from(byte));
    differing.wrapping_sub(LOW) & !differing & (LOW << 7)
}

impl<'s> LineReader<'s> {
    pub(crate) fn new(source: &'s mut dyn LoadSource, format: &'s LoadFormat, charge: Charge) -> Self {
        let stops = Stops::of(format);
        LineReader {
            source,
            format,
            buffer: Vec::new(),
            chunk: Vec::new(),
            at: 0,
            ended: false,
            charge,
            stops,
        }
    }

    /// Passes over the lines that the statement ignores.
    pub(crate) fn skip_lines(&mut self) -> io::Result<()> {
        for _ in 0..self.format.skip_lines {
            self.forget_line();
            self.skip_rest()?;
        }
        Ok(())
    }

    /// Gives back what a long line was charged for.
    fn forget_line(&mut self) {
        let usual = LINE_BYTES.max(2 * self.buffer.capacity());
        self.charge.remove(self.charge.bytes().saturating_sub(usual));
    }

    /// Reads the next line's first `wanted` fields; false at the end.
    #[inline]
    pub(crate) fn next_line(&mut self, wanted: usize, line: &mut Line) -> io::Result<bool> {
        line.fields.clear();
        line.has_more = false;
        line.is_in_buffer = self.plain_line(wanted, &mut line.fields).is_some();
        if line.is_in_buffer { Ok(true) } else { self.copied_line(wanted, line) }
    }

    /// The fields of the line that was read last.
    #[inline]
    pub(crate) fn fields<'l>(&'l self, line: &'l Line) -> Fields<'l> {
        Fields { bytes: if line.is_in_buffer { &self.buffer } else { &line.bytes }, spans: &line.fields }
    }

    /// Steps over a line that is in the buffer with as many fields as are wanted, each of which means itself,
    /// as those of most lines do; `None`: nothing has happened, except for `fields`.
    #[inline]
    fn plain_line(&mut self, wanted: usize, fields: &mut Vec<FieldSpan>) -> Option<()> {
        let stops = self.stops.filter(|_| self.format.line_start.is_empty())?;
        let mut at = self.at;
        for left in (0..wanted).rev() {
            let (field, end, next) = self.plain_field(stops, at)?;
            if end != if left == 0 { FieldEnd::Line } else { FieldEnd::Field } {
                return None;
            }
            fields.push(field);
            at = next;
        }
        self.at = at;
        (wanted > 0).then_some(())
    }

    /// [`LineReader::next_line`] of one whose fields are copied.
    #[inline(never)]
    fn copied_line(&mut self, wanted: usize, line: &mut Line) -> io::Result<bool> {
        line.bytes.clear();
        line.fields.clear();
        self.forget_line();
        if !self.find_line_start()? {
            return Ok(false);
        }
        while line.fields.len() < wanted {
            let end = match self.copy_plain_field(line) {
                Some(end) => end,
                None => self.field(line)?,
            };
            if end != FieldEnd::Field {
                return Ok(true);
            }
        }
        line.has_more = self.skip_rest()?;
        Ok(true)
    }

    /// Passes over what is left of a line, in which quotes mean nothing. True: that was something, and the
    /// line has an end.
    fn skip_rest(&mut self) -> io::Result<bool> {
        let format = self.format;
        let mut skipped = false;
        while let Some(byte) = self.peek()? {
            if format.escape == Some(byte) {
                self.at += 1;
                self.at += usize::from(self.peek()?.is_some());
            } else if self.starts_with(&format.line_end)? {
                self.at += format.line_end.len();
                return Ok(skipped);
            } else {
                self.at += 1;
            }
            skipped = true;
        }
        Ok(false)
    }

    /// Goes to what follows LINES STARTING BY; false if there is no such line.
    fn find_line_start(&mut self) -> io::Result<bool> {
        let prefix = &self.format.line_start;
        while !prefix.is_empty() && !self.starts_with(prefix)? {
            if self.peek()?.is_none() {
                return Ok(false);
            }
            self.at += 1;
        }
        self.at += prefix.len();
        Ok(self.peek()?.is_some())
    }

    /// Reads a field to after its end if all of it is in the buffer and means itself; `None`: nothing has
    /// happened.
    fn copy_plain_field(&mut self, line: &mut Line) -> Option<FieldEnd> {
        let (FieldSpan { start, end, null }, field_end, next) = self.plain_field(self.stops?, self.at)?;
        let to = line.bytes.len();
        line.bytes.extend_from_slice(&self.buffer[start..end]);
        line.fields.push(FieldSpan { start: to, end: line.bytes.len(), null });
        self.at = next;
        Some(field_end)
    }

    /// The field at `at` of the buffer, how it ends, and what is after that; `None` if its end is not there,
    /// or a byte of it does not mean itself.
    #[inline(always)]
    fn plain_field(&self, stops: Stops, at: usize) -> Option<(FieldSpan, FieldEnd, usize)> {
        let rest = &self.buffer[at..];
        let mut null = false;
        if let Some(quote) = self.format.enclosed {
            if rest.first() == Some(&quote) {
                return self.plain_enclosed(stops, quote, at);
            }
            null = rest.starts_with(b"NULL");
        }
        let len = stops.find(rest)?;
        match stops.end_of(rest[len]) {
            Some(end) => {
                let span = FieldSpan { start: at, end: at + len, null: null && len == 4 };
                Some((span, end, at + len + 1))
            }
            None if len == 0 && rest.get(1) == Some(&b'N') => {
                let end = stops.end_of(*rest.get(2)?)?;
                Some((FieldSpan { start: at, end: at, null: true }, end, at + 3))
            }
            None => None,
        }
    }

    /// [`LineReader::plain_field`] of one that begins with a quote.
    #[inline(never)]
    fn plain_enclosed(&self, stops: Stops, quote: u8, at: usize) -> Option<(FieldSpan, FieldEnd, usize)> {
        let start = at + 1;
        let body = &self.buffer[start..];
        let len = memchr::memchr2(quote, self.format.escape.unwrap_or(quote), body)?;
        if body[len] != quote {
            return None;
        }
        let end = stops.end_of(*body.get(len + 1)?)?;
        Some((FieldSpan { start, end: start + len, null: false }, end, start + len + 2))
    }

    /// Reads one field to after its end.
    fn field(&mut self, line: &mut Line) -> io::Result<FieldEnd> {
        let start = line.bytes.len();
        if let (Some(quote), Some(first)) = (self.format.enclosed, self.peek()?)
            && quote == first
        {
            self.at += 1;
            if let Some(end) = self.enclosed(quote, line, start)? {
                return Ok(end);
            }
        }
        let mut saw_null = false;
        let end = loop {
            self.copy_plain(line)?;
            let Some(byte) = self.peek()? else { break FieldEnd::File };
            if let Some(end) = self.end_here()? {
                break end;
            }
            self.at += 1;
            if self.format.escape == Some(byte) {
                saw_null |= self.escaped(line)? && line.bytes.len() == start + 1;
            } else {
                line.bytes.push(byte);
            }
        };
        let text = &line.bytes[start..];
        let is_word = text == b"NULL" && self.format.enclosed.is_some();
        let null = is_word || (saw_null && text == b"N");
        line.fields.push(FieldSpan { start, end: line.bytes.len(), null });
        Ok(end)
    }

    /// Copies bytes that mean themselves.
    fn copy_plain(&mut self, line: &mut Line) -> io::Result<()> {
        let field = self.format.field_end.first().copied();
        let stop_line = self.format.line_end.first().copied().unwrap_or(b'\n');
        let stop_field = field.unwrap_or(stop_line);
        let escape = self.format.escape.unwrap_or(stop_line);
        loop {
            let rest = &self.buffer[self.at..];
            let len = memchr::memchr3(stop_field, stop_line, escape, rest);
            let plain = len.unwrap_or(rest.len());
            line.bytes.extend_from_slice(&rest[..plain]);
            self.at += plain;
            if len.is_some() || !self.fill(1)? {
                return Ok(());
            }
        }
    }

    /// Reads an enclosed field to after its end; `None` if the quote turned out to be an ordinary byte, with
    /// what was read so far in the line.
    fn enclosed(&mut self, quote: u8, line: &mut Line, start: usize) -> io::Result<Option<FieldEnd>> {
        let mut saw_null = false;
        loop {
            let Some(byte) = self.peek()? else {
                // The file ends inside: what there is counts, the quote too.
                line.bytes.insert(start, quote);
                line.push_enclosed(start, saw_null);
                return Ok(Some(FieldEnd::File));
            };
            self.at += 1;
            if byte != quote && self.format.escape == Some(byte) {
                saw_null |= self.escaped(line)?;
                continue;
            }
            if byte != quote {
                line.bytes.push(byte);
                continue;
            }
            let end = match self.peek()? {
                None => Some(FieldEnd::File),
                Some(_) => self.end_here()?,
            };
            if let Some(end) = end {
                line.push_enclosed(start, saw_null);
                return Ok(Some(end));
            }
            line.bytes.push(quote);
            if self.peek()? == Some(quote) {
                self.at += 1;
            }
        }
    }

    /// Resolves the escape whose first byte was read; whether it is `\N`.
    fn escaped(&mut self, line: &mut Line) -> io::Result<bool> {
        let Some(byte) = self.peek()? else {
            line.bytes.extend(self.format.escape);
            return Ok(false);
        };
        self.at += 1;
        line.bytes.push(match byte {
            b'0' => 0,
            b'b' => 8,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'Z' => 26,
            other => other,
        });
        Ok(byte == b'N')
    }

    /// Steps over a terminator that is here, if one does.
    fn end_here(&mut self) -> io::Result<Option<FieldEnd>> {
        let format = self.format;
        if !format.field_end.is_empty() && self.starts_with(&format.field_end)? {
            self.at += format.field_end.len();
            return Ok(Some(FieldEnd::Field));
        }
        if !format.line_end.is_empty() && self.starts_with(&format.line_end)? {
            self.at += format.line_end.len();
            return Ok(Some(FieldEnd::Line));
        }
        Ok(None)
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.at == self.buffer.len() {
            self.fill(1)?;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    fn starts_with(&mut self, pattern: &[u8]) -> io::Result<bool> {
        if self.buffer.len() - self.at < pattern.len() {
            self.fill(pattern.len())?;
        }
        Ok(self.buffer[self.at..].starts_with(pattern))
    }

    /// Reads on until `needed` bytes are ahead; false if there are fewer.
    fn fill(&mut self, needed: usize) -> io::Result<bool> {
        if self.at > 0 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        while self.buffer.len() < needed && !self.ended {
            self.chunk.clear();
            self.ended = !self.source.next_chunk(&mut self.chunk)?;
            // A line that continues in the chunk is kept in parts, and its fields in a vector that doubles.
            self.charge.add(3 * self.chunk.len()).map_err(io::Error::other)?;
            self.buffer.extend_from_slice(&self.chunk);
        }
        Ok(self.buffer.len() >= needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a text a few bytes at a time, so that every boundary is met.
    struct Pieces<'t>(&'t [u8], usize);

    impl LoadSource for Pieces<'_> {
        fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> io::Result<bool> {
            let n = self.1.min(self.0.len());
            chunk.extend_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n > 0)
        }
    }

    fn tab_format() -> LoadFormat {
        LoadFormat {
            field_end: b"\t".as_slice().into(),
            enclosed: None,
            optionally: false,
            escape: Some(b'\\'),
            line_start: Box::default(),
            line_end: b"\n".as_slice().into(),
            skip_lines: 0,
        }
    }

    fn csv_format() -> LoadFormat {
        let (field_end, line_end) = (b",".as_slice().into(), b"\r\n".as_slice().into());
        LoadFormat { field_end, line_end, enclosed: Some(b'"'), ..tab_format() }
    }

    /// Fields joined by `|`, lines by `;`, NULL as `~`.
    fn read(text: &[u8], format: &LoadFormat, wanted: usize) -> String {
        let mut seen = None;
        for (size, plain) in [1, 2, 3, 1000].into_iter().flat_map(|size| [(size, false), (size, true)]) {
            let mut source = Pieces(text, size);
            let mut reader = LineReader::new(
                &mut source,
                format,
                Charge::new(&base::memory::StatementAccount::unlimited(), base::memory::Purpose::Other),
            );
            if !plain {
                reader.stops = None;
            }
            reader.skip_lines().unwrap();
            let (mut line, mut lines) = (Line::default(), Vec::new());
            while reader.next_line(wanted, &mut line).unwrap() {
                let read = reader.fields(&line);
                let field = |i| read.field(i).map_or("~".into(), String::from_utf8_lossy);
                let mut fields: Vec<_> = (0..read.len()).map(field).collect();
                if line.has_more {
                    fields.push("...".into());
                }
                lines.push(fields.join("|"));
            }
            let lines = lines.join(";");
            assert_eq!(*seen.get_or_insert_with(|| lines.clone()), lines, "chunks of {size}");
        }
        seen.unwrap()
    }

    #[test]
    fn tabs_part_fields_and_escapes_are_resolved() {
        assert_eq!(read(b"1\ta\\tb\t\\N\n2\t\\Nx\t\n", &tab_format(), 9), "1|a\tb|~;2|Nx|");
        assert_eq!(read(b"1\t2\t3\t4\n\nlast", &tab_format(), 2), "1|2|...;;last");
        assert_eq!(read(b"", &tab_format(), 2), "");
    }

    #[test]
    fn only_text_behind_the_last_wanted_field_is_more() {
        assert_eq!(read(b"1\t2\t\n3\t4\t5\n6\t7\t8", &tab_format(), 2), "1|2;3|4|...;6|7");
        assert_eq!(read(b"1,2,\"a\r\nb\",c\r\n", &csv_format(), 2), "1|2|...;b\"|c");
    }

    #[test]
    fn enclosed_fields_hold_terminators_and_doubled_quotes() {
        let text = b"\"a,b\",\"say \"\"hi\"\"\",NULL,\"NULL\"\r\n\"x\r\ny\",a\"b,\"c\"d,\"\"\r\n";
        assert_eq!(read(text, &csv_format(), 9), "a,b|say \"hi\"|~|NULL;x\r\ny|a\"b|\"c\"d,\"\r\n");
    }

    /// Which of the lines of `text`, with three fields each, were read from where they are.
    fn read_in_buffer(text: &[u8], format: &LoadFormat) -> Vec<bool> {
        let mut source = Pieces(text, text.len());
        let account = base::memory::StatementAccount::unlimited();
        let mut reader =
            LineReader::new(&mut source, format, Charge::new(&account, base::memory::Purpose::Other));
        let (mut line, mut lines) = (Line::default(), Vec::new());
        while reader.next_line(3, &mut line).unwrap() {
            lines.push(line.is_in_buffer);
        }
        lines
    }

    #[test]
    fn lines_of_plain_and_enclosed_fields_and_nulls_are_read_from_the_buffer() {
        let text = b"1\t2\t3\n4\t\\N\t6\n7\t\t9\n1\ta\\tb\t3\n1\t2\n1\t2\t3\t4\n";
        // The buffer is empty before the first one.
        assert_eq!(read_in_buffer(text, &tab_format()), [false, true, true, false, false, false]);
        let format = LoadFormat { line_end: b"\n".as_slice().into(), ..csv_format() };
        let text = b"1,2,3\n\"a,b\",NULL,\\N\n\"say \"\"hi\"\"\",2,3\n1,\"x\",3\n";
        assert_eq!(read_in_buffer(text, &format), [false, true, false, true]);
    }

    /// [`read`] compares each text's fields as they are read plainly with those read byte by byte.
    #[test]
    fn fields_that_are_read_plainly_are_what_they_are_byte_by_byte() {
        let lines_end_in_one_byte = LoadFormat { line_end: b"\n".as_slice().into(), ..csv_format() };
        let mut prng = base::prng::Prng::new(5);
        for _ in 0..2000 {
            let text: Vec<u8> =
                (0..prng.below(30)).map(|_| b"aNUL\",\t\\\n"[prng.below(9) as usize]).collect();
            for format in [&tab_format(), &csv_format(), &lines_end_in_one_byte] {
                read(&text, format, 3);
            }
        }
    }

    #[test]
    fn lines_are_skipped_and_found_by_their_start() {
        let format = LoadFormat { line_start: b"xx".as_slice().into(), skip_lines: 1, ..tab_format() };
        assert_eq!(read(b"xxhead\nab xx1\t2\nnothing\nxx3\n", &format, 9), "1|2;3");
    }
}
