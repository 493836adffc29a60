//! Records as values and in record batches, compared with their lines.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampSecondType};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use serde_json::{Map, Value};

use urlspool::{Extractor, Finding, Message, Options, Record, Source};
use urlspool_record::record::{
    Columns, FieldId, JsonFields, LineFormat, MessageTail, RecordWriter,
};
use urlspool_text::limits::ARROW_BATCH_ROWS;

const MAIL: &[&[u8]] = &[
    b"From: \"A \\ B\" <a@b.example>\nSubject: =?utf-8?q?caf=C3=A9=09?=\n\
     Date: Tue, 02 Jul 1996 13:45:10 GMT\nNewsgroups: a.b,c.d\nReferences: <1@x> <2@x>\n\
     Message-ID: <3@x>\n\nsee <URL:http://a.example/x\n  y?q#f> or ftp://b.example/%7Ec;type=a, \
     www.c.example/\xFF.\nhttp://e.example/~f/ and mailto:a@b.example\n",
    b"Content-Type: text/html; charset=latin1\n\n\
     <a href=\"http://d.example/\">http://other.example/</a> <a href=http://x.example/a-\nb>\n",
    b"http://a.example/0\n",
];

/// Returns the records of all messages, as lines and as values with the fields `chosen`.
fn records(format: &LineFormat, chosen: &[FieldId]) -> (Vec<Value>, Vec<Record>) {
    let (mut lines, mut values) = (Vec::new(), Vec::new());
    let mut options = Options::default();
    options.context_bytes = 8;
    let extractor = Extractor::new(options);
    let mut line_writer = RecordWriter::new(format);
    let mut value_writer = RecordWriter::new(&LineFormat::Values(chosen.to_vec()));
    for mail in MAIL {
        line_writer.begin(MessageTail::Complete);
        value_writer.begin(MessageTail::Complete);
        let source = Source::at("a\"b".into()).within(b"m\\");
        extractor.extract(&Message::parse(mail), &source, &mut |finding| {
            if let Finding::Url(record) | Finding::Unwrapped(record) = finding {
                let mut line = Vec::new();
                line_writer.write(record, &mut line);
                lines.push(serde_json::from_slice(&line).unwrap());
                values.push(value_writer.record(record));
            }
        });
    }
    assert!(lines.len() > 6);
    (lines, values)
}

/// Returns the value in a row, in the form that the line has.
fn value(array: &dyn Array, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into(),
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Timestamp(..) => {
            let seconds = array.as_primitive::<TimestampSecondType>().value(row);
            let time = jiff::Timestamp::from_second(seconds).unwrap();
            time.to_string().into()
        }
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(row);
            (0..items.len()).map(|item| value(&items, item)).collect()
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            let pairs = fields.iter().zip(columns);
            let pairs = pairs.map(|(field, column)| (field.name().clone(), value(column, row)));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        other => panic!("{other}"),
    }
}

fn rows(batch: &RecordBatch) -> Vec<Value> {
    let records = arrow_array::StructArray::from(batch.clone());
    (0..records.len()).map(|row| value(&records, row)).collect()
}

fn check(format: &LineFormat, chosen: Option<&[FieldId]>) {
    let (lines, records) = records(format, chosen.unwrap_or(FieldId::ALL));
    let mut columns = Columns::new(chosen);
    let half = lines.len() / 2 + 1;
    for (lines, records) in lines.chunks(half).zip(records.chunks(half)) {
        assert!(columns.append(records).is_empty());
        let batch = columns.take_batch().unwrap().unwrap();
        assert_eq!(batch.schema(), columns.schema());
        assert_eq!(rows(&batch), lines);
    }
    assert_eq!(columns.take_batch().unwrap(), None);
}

#[test]
fn a_batch_has_the_values_of_the_lines() {
    check(&LineFormat::default(), None);
    for fields in [
        &FieldId::slim(),
        FieldId::ALL,
        &[FieldId::PartPath, FieldId::Alternates],
        &[FieldId::PartCharset, FieldId::ErrorMessage],
    ] {
        check(&LineFormat::Json(JsonFields::new(fields)), Some(fields));
    }
}

#[test]
fn a_record_serializes_as_its_line() {
    let (lines, records) = records(&LineFormat::default(), FieldId::ALL);
    for (line, record) in lines.iter().zip(&records) {
        assert_eq!(serde_json::to_value(record).unwrap(), *line);
        assert_eq!(record.url(), line["url"]);
        assert_eq!(record.range().start, line["source"]["start"]);
        let hazards: Vec<_> = record.texts(FieldId::Hazards).collect();
        assert_eq!(Value::from(hazards), line["hazards"]);
    }
}

#[test]
fn columns_are_full_before_they_are_too_large_for_a_batch() {
    let (_, records) = records(&LineFormat::default(), FieldId::ALL);
    let many = vec![records[0].clone(); ARROW_BATCH_ROWS + 3];
    let mut columns = Columns::new(None);
    assert_eq!(columns.append(&many).len(), 3);
    assert!(columns.is_full());
    let rows = columns.take_batch().unwrap().unwrap().num_rows();
    assert_eq!(rows, ARROW_BATCH_ROWS);
    assert!(!columns.is_full());
}
