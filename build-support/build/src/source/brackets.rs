//! Which brackets belong together, found once for all tokens: what reads them steps over a group at once, however deep it
//! is nested and however much of it never closes.

use super::lexer::{Token, TokenKind};

/// Gives each bracket and each `<` and `>` of template arguments its [`Token::pair`].
///
/// Any closing bracket closes the last one that is open, whatever its shape. A `<` is a comparison where a `;` or the end of
/// the group around it comes before its `>`.
pub(super) fn pair(tokens: &mut [Token<'_>]) {
    let mut open: Vec<usize> = Vec::new();
    for at in 0..tokens.len() {
        tokens[at].pair = 0;
        if tokens[at].kind != TokenKind::Punct {
            continue;
        }
        match tokens[at].text {
            "(" | "[" | "{" | "<" => open.push(at),
            ">" => {
                if let Some(first) = open.pop_if(|first| tokens[*first].is("<")) {
                    join(tokens, first, at);
                }
            }
            ";" => while open.pop_if(|first| tokens[*first].is("<")).is_some() {},
            ")" | "]" | "}" => {
                while open.pop_if(|first| tokens[*first].is("<")).is_some() {}
                if let Some(first) = open.pop() {
                    join(tokens, first, at);
                }
            }
            _ => {}
        }
    }
}

fn join(tokens: &mut [Token<'_>], first: usize, last: usize) {
    let distance = u32::try_from(last - first).unwrap_or(0);
    tokens[first].pair = distance;
    tokens[last].pair = distance;
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;

    /// For each bracket the distance to its other half.
    fn pairs(text: &str) -> String {
        let lexed = lex(text);
        let pairs = lexed.tokens.iter().map(|token| match token.pair {
            0 => token.text.to_owned(),
            pair => format!("{}{pair}", token.text),
        });
        pairs.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn brackets_find_each_other() {
        for (text, expected) in [
            ("f ( [ ] ) {", "f (3 [1 ]1 )3 {"),
            ("( ] )", "(1 ]1 )"),
            ("a < b < c > >", "a <5 b <2 c >2 >5"),
            ("a < b < c >", "a < b <2 c >2"),
            ("a < b ; c >", "a < b ; c >"),
            ("( a < b ) > c", "(4 a < b )4 > c"),
            ("a < ( b > c ) >", "a <6 (4 b > c )4 >6"),
            ("a < ( b < ; ) > >", "a <6 (4 b < ; )4 >6 >"),
            ("a < ( b >", "a < ( b >"),
        ] {
            assert_eq!(pairs(text), expected, "{text}");
        }
    }
}
