//! The password file of `PostgreSQL`'s programs: `host:port:database:user:password`, `*` for any.

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// Returns the password that a file has for a server.
pub(super) fn password(file: &str, config: &Config) -> Option<String> {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let wanted = [&*host, &*port.to_string(), database, user];
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.map(fields).find_map(|mut fields| {
        let password = (fields.len() == wanted.len() + 1).then(|| fields.pop())??;
        let is_right = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
        fields.iter().zip(&wanted).all(is_right).then_some(password)
    })
}

/// The fields of a line. A backslash keeps the character after it from dividing.
fn fields(line: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ':' if fields.len() < 4 => fields.push(std::mem::take(&mut field)),
            '\\' => field.extend(chars.next()),
            c => field.push(c),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_for_a_server_counts() {
        let config: Config = "postgresql://me@db.example:5433/urls".parse().unwrap();
        let file = "# none\nother:*:*:*:a\ndb.example:5433:urls:me:p\\:q\n*:*:*:*:b\n";
        assert_eq!(password(file, &config).as_deref(), Some("p:q"));
        assert_eq!(password("db.example:1:urls:me:p", &config), None);
        assert_eq!(password("*:*:*:*:b", &config).as_deref(), Some("b"));
    }
}
