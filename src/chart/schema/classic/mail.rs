//! One mail address, as Go's `net/mail` reads it.

/// Reads from the left.
struct Reader<'t>(&'t str);

/// Whether a text is one mail address, with or without a name before it.
pub fn is_address(text: &str) -> bool {
    let mut reader = Reader(text);
    reader.address(true).is_some() && reader.comments().is_some() && reader.0.is_empty()
}

fn is_atom(c: char, permits_dot: bool) -> bool {
    match c {
        '.' => permits_dot,
        '(' | ')' | '<' | '>' | '[' | ']' | ':' | ';' | '@' | '\\' | ',' | '"' => false,
        _ => ('!'..='~').contains(&c) || !c.is_ascii(),
    }
}

impl Reader<'_> {
    fn space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, c: char) -> Option<()> {
        self.0 = self.0.strip_prefix(c)?;
        Some(())
    }

    /// White space and comments.
    fn comments(&mut self) -> Option<()> {
        self.space();
        while self.take('(').is_some() {
            let mut depth = 1;
            while depth > 0 {
                let c = self.0.chars().next()?;
                self.0 = self.0.get(c.len_utf8()..)?;
                match c {
                    '\\' => self.0 = self.0.get(self.0.chars().next()?.len_utf8()..)?,
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    _ => {}
                }
            }
            self.space();
        }
        Some(())
    }

    /// A mailbox, or where allowed a group of one.
    fn address(&mut self, group: bool) -> Option<()> {
        self.space();
        let start = self.0;
        if self.mailbox().is_some() {
            self.space();
            return if self.0.starts_with('(') { self.comments() } else { Some(()) };
        }
        self.0 = start;
        if !self.0.starts_with('<') {
            self.phrase()?;
        }
        self.space();
        if group && self.take(':').is_some() {
            self.comments()?;
            self.address(false)?;
            self.comments()?;
            return self.take(';');
        }
        self.take('<')?;
        self.mailbox()?;
        self.take('>')
    }

    /// `local@domain`
    fn mailbox(&mut self) -> Option<()> {
        self.space();
        if self.0.starts_with('"') {
            self.quoted().filter(|length| *length > 0)?;
        } else {
            self.atom(false)?;
        }
        self.take('@')?;
        self.space();
        if self.take('[').is_some() {
            let (literal, rest) = self.0.split_once(']')?;
            self.0 = rest;
            return literal.parse::<std::net::IpAddr>().ok().map(|_| ());
        }
        self.atom(false)
    }

    fn phrase(&mut self) -> Option<()> {
        let mut words = 0;
        loop {
            self.comments()?;
            let read = if self.0.starts_with('"') { self.quoted().map(|_| ()) } else { self.atom(true) };
            match read {
                Some(()) => words += 1,
                None => return (words > 0).then_some(()),
            }
        }
    }

    /// A run of plain characters with dots, which `lax` allows anywhere.
    fn atom(&mut self, lax: bool) -> Option<()> {
        let end = self.0.find(|c| !is_atom(c, true)).unwrap_or(self.0.len());
        let (atom, rest) = self.0.split_at(end);
        let bad = atom.starts_with('.') || atom.ends_with('.') || atom.contains("..");
        if atom.is_empty() || bad && !lax {
            return None;
        }
        self.0 = rest;
        Some(())
    }

    /// A text in double quotes; its length.
    fn quoted(&mut self) -> Option<usize> {
        let mut length = 0;
        let mut chars = self.0.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            let visible = |c: char| ('!'..='~').contains(&c) || !c.is_ascii() || matches!(c, ' ' | '\t');
            match c {
                '"' => {
                    self.0 = self.0.get(at + 1..)?;
                    return Some(length);
                }
                '\\' if chars.next().is_some_and(|(_, c)| visible(c)) => length += 1,
                '\\' => return None,
                c if visible(c) => length += 1,
                _ => return None,
            }
        }
        None
    }
}
