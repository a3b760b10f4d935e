//! Which struct a type's text means, as far as text tells.
//!
//! A wrong guess does no harm: the compiler refuses the question, or its answer has another name.

use std::collections::BTreeMap;

use crate::source::{Declarations, FieldKind, Obstacle, TypeKind};

/// Longest chain of aliases, and of base classes, that is followed.
const DEPTH: usize = 8;

/// A type's text, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mention<'m> {
    text: &'m str,
    scope: &'m [String],
}

impl<'m> Mention<'m> {
    /// A text of spaced tokens in a scope.
    pub(super) fn of(text: &'m str, scope: &'m [String]) -> Self {
        Self { text, scope }
    }
}

/// A struct that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolved {
    /// Index into [`Declarations::types`].
    pub(super) declared: usize,
    /// What its template parameters stand for, as far as written.
    args: BTreeMap<String, String>,
}

impl Resolved {
    /// A struct that is no template.
    pub(super) fn plain(declared: usize) -> Self {
        Self {
            declared,
            args: BTreeMap::new(),
        }
    }

    /// A text with template arguments in the place of parameters.
    fn substitute(&self, text: &str) -> String {
        let argument = |word| self.args.get(word).map_or(word, String::as_str);
        text.split(' ').map(argument).collect::<Vec<_>>().join(" ")
    }
}

/// A field, own or inherited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedField {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) public: bool,
    pub(super) kind: FieldKind,
}

/// Finds structs by name.
pub(super) struct Resolver<'d> {
    declarations: &'d Declarations,
    by_name: BTreeMap<&'d str, Vec<usize>>,
}

impl<'d> Resolver<'d> {
    pub(super) fn new(declarations: &'d Declarations) -> Self {
        let mut by_name: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (index, ty) in declarations.types.iter().enumerate() {
            by_name.entry(ty.name.as_str()).or_default().push(index);
        }
        Self {
            declarations,
            by_name,
        }
    }

    /// All types of a name.
    pub(super) fn named(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The struct that a text means.
    pub(super) fn resolve(&self, mention: Mention<'_>) -> Option<Resolved> {
        let mut text = mention.text;
        for _ in 0..DEPTH {
            let (path, name) = head(text)?;
            if let Some(declared) = self.pick(&path, name, mention.scope) {
                let params = self.declarations.types[declared].template.iter().flatten();
                let names = params.filter_map(|param| param.name.clone());
                return Some(Resolved {
                    declared,
                    args: names.zip(args(text)).collect(),
                });
            }
            let [meaning] = &self.declarations.aliases.get(name)?[..] else {
                return None;
            };
            text = meaning;
        }
        None
    }

    /// Of the structs of a name the one that is visible from a scope.
    fn pick(&self, path: &[&str], name: &str, scope: &[String]) -> Option<usize> {
        let ty = |index: usize| &self.declarations.types[index];
        let structs = self
            .named(name)
            .iter()
            .copied()
            .filter(|&index| ty(index).kind != TypeKind::Enum);
        let fitting = structs.filter(|&index| {
            let own = ty(index).scope.iter().map(String::as_str);
            let own: Vec<_> = own.filter(|part| !part.is_empty()).collect();
            own.ends_with(path)
        });
        let fitting: Vec<_> = fitting.collect();
        if let [only] = fitting[..] {
            return Some(only).filter(|&only| ty(only).obstacle != Some(Obstacle::Specialization));
        }
        let around = fitting
            .into_iter()
            .filter(|&index| scope.starts_with(&ty(index).scope));
        let mut around: Vec<_> = around.collect();
        let depth = around.iter().map(|&index| ty(index).scope.len()).max()?;
        around.retain(|&index| ty(index).scope.len() == depth);
        // A template and its specializations: which one is meant, text does not tell.
        match around[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The fields of a struct in the order of memory, its bases' first, and why they are not all, if they are not.
    pub(super) fn fields(
        &self,
        found: &Resolved,
        depth: usize,
    ) -> (Vec<NamedField>, Option<Obstacle>) {
        let ty = &self.declarations.types[found.declared];
        let mut obstacle = ty.obstacle;
        if obstacle == Some(Obstacle::Specialization) {
            return (Vec::new(), obstacle);
        }
        let mut fields: Vec<NamedField> = Vec::new();
        let around = ty.scope.as_slice();
        for (nth, base) in ty.bases.iter().enumerate() {
            let text = found.substitute(&base.text);
            let mention = Mention::of(&text, around);
            let resolved = self.resolve(mention).filter(|_| base.public && depth > 0);
            let Some(resolved) = resolved else {
                obstacle = obstacle.or(Some(Obstacle::Base));
                continue;
            };
            let (mut inherited, more) = self.fields(&resolved, depth - 1);
            obstacle = obstacle.or(more);
            // A pointer to an inherited member counts from the start of its base: that of the first lies at 0.
            if nth > 0 && inherited.iter().any(|field| !field.public) {
                inherited.retain(|field| field.public);
                obstacle = obstacle.or(Some(Obstacle::Base));
            }
            fields.extend(inherited);
        }
        let inherited = fields.len();
        fields.extend(ty.fields.iter().map(|field| NamedField {
            name: field.name.clone(),
            text: found.substitute(&field.text),
            public: field.public,
            kind: field.kind,
        }));
        // A name means the own field, and of two inherited ones none.
        let hidden = |nth: usize, field: &NamedField| {
            let mut others = fields.iter().enumerate().filter(|&(other, _)| other != nth);
            nth < inherited && others.any(|(_, other)| other.name == field.name)
        };
        let named = fields.iter().enumerate();
        let seen: Vec<_> = named
            .filter(|(nth, field)| !hidden(*nth, field))
            .map(|(_, field)| field.clone())
            .collect();
        if seen.len() < fields.len() {
            obstacle = obstacle.or(Some(Obstacle::Base));
        }
        (seen, obstacle)
    }
}

/// The name that a text of spaced tokens starts with: its scope as written, and the name itself.
fn head(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut tokens = text.split(' ').peekable();
    let mut path = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            "const" | "volatile" | "typename" | "struct" | "class" | "mutable" | "::" => {}
            word => {
                path.push(word);
                if tokens.peek() != Some(&"::") {
                    break;
                }
            }
        }
    }
    let name = path.pop()?;
    Some((path, name))
}

/// The template arguments of the first name in a text that has any.
fn args(text: &str) -> Vec<String> {
    let mut args = Vec::new();
    let (mut depth, mut arg) = (0usize, Vec::new());
    for token in text.split(' ') {
        match token {
            "<" | "(" | "[" | "{" => depth += 1,
            ">" | ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (depth, token) {
            (1, "<") => continue,
            (1, ",") => args.push(std::mem::take(&mut arg).join(" ")),
            (0, ">") => {
                args.push(arg.join(" "));
                return args;
            }
            (0, _) => {}
            _ => arg.push(token),
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_arguments() {
        assert_eq!(
            head("const :: a :: b :: C < int > *"),
            Some((vec!["a", "b"], "C"))
        );
        assert_eq!(head("struct P *"), Some((vec![], "P")));
        assert_eq!(head(""), Some((vec![], "")));
        assert_eq!(
            args("const V < int , W < float , ( 3 , 4 ) > > *"),
            ["int", "W < float , ( 3 , 4 ) >"]
        );
        assert!(args("int *").is_empty());
    }

    #[test]
    fn the_struct_in_sight_is_meant() {
        let source = "struct P { int a; }; namespace n { struct P { int b; }; namespace m { struct Q { P p; }; } }
            template <class T> struct Base { T t; }; template <class T, int N> struct D : Base<T> { n::P p; T u; };
            using E = D<P, 3>; struct Hidden : private P { int c; }; struct Twice : P { int a; };";
        let declarations = Declarations::read(source);
        let resolver = Resolver::new(&declarations);
        let scope = |parts: &[&str]| {
            parts
                .iter()
                .map(|&part| part.to_owned())
                .collect::<Vec<_>>()
        };
        let path = |text: &str, parts: &[&str]| {
            let found = resolver.resolve(Mention::of(text, &scope(parts)))?;
            Some(declarations.types[found.declared].path())
        };
        assert_eq!(path("P", &[]).as_deref(), Some("P"));
        assert_eq!(path("const P *", &["n", "m"]).as_deref(), Some("n::P"));
        assert_eq!(path("n :: P", &[]).as_deref(), Some("n::P"));
        assert_eq!(path("int", &[]), None);
        let fields = |text: &str| {
            let found = resolver.resolve(Mention::of(text, &[])).unwrap();
            let (fields, obstacle) = resolver.fields(&found, 8);
            let fields = fields
                .iter()
                .map(|field| format!("{} {}", field.text, field.name));
            (fields.collect::<Vec<_>>().join(", "), obstacle)
        };
        let base = Some(Obstacle::Base);
        assert_eq!(fields("E"), ("P t, n :: P p, P u".to_owned(), None));
        assert_eq!(fields("Hidden"), ("int c".to_owned(), base));
        assert_eq!(fields("Twice"), ("int a".to_owned(), base));
    }
}
