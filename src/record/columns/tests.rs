//! The schema.

use arrow_schema::DataType;
use serde_json::json;

use super::*;
use crate::record::SchemaLanguage;

/// `urlspool schema --as arrow` prints the schema as Python source.
#[test]
fn the_schema_is_the_one_that_is_printed_for_pyarrow() {
    fn python(data_type: &DataType) -> String {
        match data_type {
            DataType::Utf8 => "pa.string()".to_owned(),
            DataType::Int64 => "pa.int64()".to_owned(),
            DataType::Float64 => "pa.float64()".to_owned(),
            DataType::Boolean => "pa.bool_()".to_owned(),
            DataType::Timestamp(unit, zone) => {
                assert_eq!(*unit, arrow_schema::TimeUnit::Second);
                let zone = json!(zone.as_deref().unwrap());
                format!("pa.timestamp(\"s\", tz={zone})")
            }
            DataType::List(item) => format!("pa.list_({})", python(item.data_type())),
            DataType::Struct(fields) => {
                let fields = fields.iter().map(|field| pair(field));
                format!("pa.struct([{}])", fields.collect::<Vec<_>>().join(", "))
            }
            other => panic!("{other}"),
        }
    }
    fn pair(field: &arrow_schema::Field) -> String {
        assert!(field.is_nullable());
        format!("(\"{}\", {})", field.name(), python(field.data_type()))
    }
    let schema = arrow_schema(None);
    let fields = schema.fields().iter();
    let fields: String = fields
        .map(|field| format!("    {},\n", pair(field)))
        .collect();
    let printed = crate::record::schema(SchemaLanguage::Arrow);
    assert_eq!(printed, format!("pa.schema([\n{fields}])\n"));
}
