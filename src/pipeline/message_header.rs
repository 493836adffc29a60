//! Values of a message's header that a run needs before its URLs: the date, and the identity of an article.

use super::chunk::{ArticleChunk, ArticlePart};
use crate::decode::{HeaderFields, KnownField, parse_date};
use crate::record::hash_pieces;
use crate::split::Message;

/// The date of a message in seconds since 1970.
pub(super) fn date_of(message: &Message<'_>, fields: &HeaderFields) -> Option<i64> {
    let field = fields.first_known(KnownField::Date)?;
    parse_date(&String::from_utf8_lossy(field.value.of(message.raw))).unix
}

/// Identifies an article by its Message-ID and its digest. `None` if it has no Message-ID.
pub(super) fn article_chunk(
    message: &Message<'_>,
    fields: &HeaderFields,
    digest: u128,
    part: ArticlePart,
) -> Option<ArticleChunk> {
    let id = fields.first_known(KnownField::MessageId)?;
    let hash = hash_pieces(&[id.value.of(message.raw), &digest.to_le_bytes()]);
    Some(ArticleChunk { hash, part })
}
