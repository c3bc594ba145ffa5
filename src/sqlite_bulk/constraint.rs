//! Parses constraints: checks of a table and conditions of a partial index.
//!
//! SQLite has no pragma for these, so the `create` statement of the table or index is parsed. Only the few forms below are
//! supported; `None` means any other form.

use rusqlite::types::ValueRef;

/// A condition on a column of a row.
#[derive(Debug, PartialEq)]
pub struct Condition {
    /// The number of the column.
    pub column: usize,
    pub test: Test,
}

/// A condition on a value.
#[derive(Debug, PartialEq)]
pub enum Test {
    Null,
    NotNull,
    In(Values),
}

/// Literals of one type.
#[derive(Debug, PartialEq)]
pub enum Values {
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl Condition {
    /// Whether it is true. The rows of a partial index satisfy this.
    pub fn holds(&self, value: ValueRef<'_>) -> bool {
        match &self.test {
            Test::Null => value == ValueRef::Null,
            Test::NotNull => value != ValueRef::Null,
            Test::In(values) => values.contain(value),
        }
    }

    /// Whether it is not false: a check also accepts the unknown result of a NULL.
    pub fn admits(&self, value: ValueRef<'_>) -> bool {
        match self.test {
            Test::In(_) if value == ValueRef::Null => true,
            _ => self.holds(value),
        }
    }
}

impl Values {
    fn contain(&self, value: ValueRef<'_>) -> bool {
        match (self, value) {
            (Values::Integers(all), ValueRef::Integer(one)) => all.contains(&one),
            (Values::Texts(all), ValueRef::Text(one)) => {
                all.iter().any(|text| text.as_bytes() == one)
            }
            _ => false,
        }
    }
}

/// The checks in the statement that created a table.
pub fn checks(sql: &str, columns: &[&str]) -> Option<Vec<Condition>> {
    let tokens = tokens(sql)?;
    let mut rest = tokens.as_slice();
    let mut checks = Vec::new();
    while let Some(place) = rest.iter().position(|token| token.is_word("check")) {
        let (body, behind) = parenthesized(&rest[place + 1..])?;
        checks.push(condition(body, columns)?);
        rest = behind;
    }
    Some(checks)
}

/// The conditions in the statement that created a partial index, all of which must be true.
pub fn index_conditions(sql: &str, columns: &[&str]) -> Option<Vec<Condition>> {
    let tokens = tokens(sql)?;
    let place = tokens.iter().position(|token| token.is_word("where"))?;
    let conditions = tokens[place + 1..].split(|token| token.is_word("and"));
    conditions
        .map(|tokens| condition(tokens, columns))
        .collect()
}

/// Whether a statement contains one of these words outside of quotation marks.
pub fn has_word(sql: &str, words: &[&str]) -> Option<bool> {
    let tokens = tokens(sql)?;
    let is_one = |token: &Token| words.iter().any(|word| token.is_word(word));
    Some(tokens.iter().any(is_one))
}

/// `column is null`, `column is not null`, `column = literal`, `column in (literal, ...)`.
fn condition(tokens: &[Token], columns: &[&str]) -> Option<Condition> {
    let (first, rest) = tokens.split_first()?;
    let (Token::Word(name) | Token::Name(name)) = first else {
        return None;
    };
    let column = columns
        .iter()
        .position(|column| column.eq_ignore_ascii_case(name))?;
    let is = |words: &[&str]| {
        words.len() == rest.len()
            && rest
                .iter()
                .zip(words)
                .all(|(token, word)| token.is_word(word))
    };
    let test = match rest {
        _ if is(&["is", "null"]) => Test::Null,
        _ if is(&["is", "not", "null"]) => Test::NotNull,
        [Token::Symbol('='), literal @ ..] => Test::In(values(literal)?),
        [word, list @ ..] if word.is_word("in") => match parenthesized(list)? {
            (body, []) => Test::In(values(body)?),
            _ => return None,
        },
        _ => return None,
    };
    Some(Condition { column, test })
}

/// Literals, separated by commas.
fn values(tokens: &[Token]) -> Option<Values> {
    let literals = tokens.split(|token| *token == Token::Symbol(','));
    if matches!(tokens.first(), Some(Token::Text(_))) {
        let text = |literal: &[Token]| match literal {
            [Token::Text(text)] => Some(text.clone()),
            _ => None,
        };
        return literals.map(text).collect::<Option<_>>().map(Values::Texts);
    }
    let integer = |literal: &[Token]| match literal {
        [Token::Number(digits)] => digits.parse().ok(),
        [Token::Symbol('-'), Token::Number(digits)] => format!("-{digits}").parse().ok(),
        _ => None,
    };
    literals
        .map(integer)
        .collect::<Option<_>>()
        .map(Values::Integers)
}

/// The tokens between the next parenthesis and its counterpart, and the tokens after it.
fn parenthesized(tokens: &[Token]) -> Option<(&[Token], &[Token])> {
    let (Token::Symbol('('), inner) = tokens.split_first()? else {
        return None;
    };
    let mut depth = 1;
    let end = inner.iter().position(|token| {
        depth += match token {
            Token::Symbol('(') => 1,
            Token::Symbol(')') => -1,
            _ => 0,
        };
        depth == 0
    })?;
    Some((&inner[..end], &inner[end + 1..]))
}

/// A token of a statement; comments and blanks are skipped.
#[derive(Debug, PartialEq)]
enum Token {
    /// A keyword, or a name without quotation marks.
    Word(String),
    /// A name in quotation marks.
    Name(String),
    /// A string.
    Text(String),
    /// A number as written.
    Number(String),
    /// Any other character.
    Symbol(char),
}

impl Token {
    fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(other) if other.eq_ignore_ascii_case(word))
    }
}

fn tokens(sql: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            ' ' | '\t' | '\n' | '\r' | '\x0c' => 1,
            '\'' | '"' | '`' => {
                let (text, length) = quoted(rest, first)?;
                tokens.push(if first == '\'' {
                    Token::Text(text)
                } else {
                    Token::Name(text)
                });
                length
            }
            '[' => {
                let end = rest.find(']')?;
                tokens.push(Token::Name(rest[1..end].to_string()));
                end + 1
            }
            '0'..='9' => {
                let end =
                    rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_'));
                let length = end.unwrap_or(rest.len());
                tokens.push(Token::Number(rest[..length].to_string()));
                length
            }
            _ if is_of_word(first) => {
                let length = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
                tokens.push(Token::Word(rest[..length].to_string()));
                length
            }
            _ => {
                tokens.push(Token::Symbol(first));
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    Some(tokens)
}

fn is_of_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$') || !character.is_ascii()
}

/// A quoted string, in which quotation marks are doubled, and its length with the marks.
fn quoted(sql: &str, mark: char) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut characters = sql.char_indices().skip(1).peekable();
    while let Some((place, character)) = characters.next() {
        if character == mark && characters.next_if(|(_, next)| *next == mark).is_none() {
            return Some((text, place + mark.len_utf8()));
        }
        text.push(character);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[&str] = &["id", "kind", "Order", "is_new"];

    fn integers(column: usize, values: &[i64]) -> Condition {
        let test = Test::In(Values::Integers(values.to_vec()));
        Condition { column, test }
    }

    fn texts(column: usize, values: &[&str]) -> Condition {
        let texts = values.iter().map(ToString::to_string).collect();
        let test = Test::In(Values::Texts(texts));
        Condition { column, test }
    }

    #[test]
    fn the_checks_of_a_table_are_found_among_comments_and_strings() {
        let sql = "create table t (
            id integer primary key, -- check (id > 0)
            kind text CHECK (kind in (
                'it''s', -- with, a comment
                'check (x)' /* and ) another */
            )) not null,
            /*/ not its end */ \"Order\" integer, is_new integer check(is_new IN (0,1)),
            constraint named check (\"order\" in (-9223372036854775808, 7))
        ) strict";
        let expected = vec![
            texts(1, &["it's", "check (x)"]),
            integers(3, &[0, 1]),
            integers(2, &[i64::MIN, 7]),
        ];
        assert_eq!(checks(sql, COLUMNS), Some(expected));
        assert_eq!(
            checks("create table t (a, \"check\" text)", COLUMNS),
            Some(vec![])
        );
    }

    #[test]
    fn the_conditions_of_a_partial_index_are_found_wherever_they_stand() {
        let sql = "create index i on t (kind)\n  WHERE\n is_new = 1\nand kind is not null AND [order] in (2, 3) and id IS NULL";
        let column = |column, test| Condition { column, test };
        let expected = vec![
            integers(3, &[1]),
            column(1, Test::NotNull),
            integers(2, &[2, 3]),
            column(0, Test::Null),
        ];
        assert_eq!(index_conditions(sql, COLUMNS), Some(expected));
    }

    #[test]
    fn what_is_not_understood_is_no_condition() {
        for text in [
            "",
            "kind",
            "kind = ",
            "kind = 1.5",
            "kind = 0x10",
            "kind = 9223372036854775808",
            "kind = x'00'",
            "kind = \"a\"",
            "kind = null",
            "kind = 'a' || 'b'",
            "kind == 'a'",
            "kind <> 'a'",
            "kind is 'a'",
            "kind = 'a' collate nocase",
            "kind in ('a', 1)",
            "kind in ()",
            "kind in (select 1)",
            "kind in ('a') or 1",
            "kind not in ('a')",
            "kind is null or is_new = 1",
            "(kind is null)",
            "not kind is null",
            "t.kind is null",
            "id between 1 and 2",
            "length(kind) = 1",
            "other is null",
            "rowid = 1",
            "kind = 'a' and",
        ] {
            let index = format!("create index i on t (kind) where {text}");
            assert_eq!(index_conditions(&index, COLUMNS), None, "{text}");
            let table = format!("create table t (id integer, check ({text}))");
            assert_eq!(checks(&table, COLUMNS), None, "{text}");
        }
    }

    #[test]
    fn a_null_passes_a_check_and_meets_no_condition() {
        let condition = integers(0, &[0, 1]);
        for (value, holds, is_admitted) in [
            (ValueRef::Integer(1), true, true),
            (ValueRef::Integer(2), false, false),
            (ValueRef::Null, false, true),
        ] {
            assert_eq!(condition.holds(value), holds);
            assert_eq!(condition.admits(value), is_admitted);
        }
    }
}
