//! Numbers and states of SQL databases.

use super::{P, T, U};
use crate::reading::Category::*;
use crate::reading::{Category, Class};

/// Looks up a SQLSTATE. Sources: PostgreSQL appendix A; transient as in Npgsql's `PostgresException.IsTransient`;
/// Spring's classes for the remaining states. The sources disagree on 53100 (disk full).
pub fn state(code: &str) -> Option<(Class, Category)> {
    if code.len() != 5 || !code.is_ascii() {
        return None;
    }
    let exact = match code {
        "08P01" => (U, DependencyUnavailable),
        "42501" => (P, Auth),
        "23505" => (P, Duplicate),
        "23503" => (P, MissingReference),
        "25006" => (U, DependencyUnavailable),
        "25P03" | "57P05" => (T, Timeout),
        "53100" => (U, ResourceLimit),
        "55000" | "55006" | "55P03" => (T, Conflict),
        "57014" => (U, Timeout),
        "57P01" | "57P02" | "57P03" | "58000" | "58030" => (T, DependencyUnavailable),
        "57P04" | "3D000" | "3F000" => (P, Configuration),
        "HYT00" | "HYT01" => (T, Timeout),
        "42601" | "42P02" => (P, ConsumerBug),
        _ => return state_class(&code[..2]),
    };
    Some(exact)
}

fn state_class(class: &str) -> Option<(Class, Category)> {
    Some(match class {
        "08" => (T, DependencyUnavailable),
        "40" => (T, Conflict),
        "53" => (T, ResourceLimit),
        "21" | "22" | "23" | "44" => (P, SchemaViolation),
        "28" => (P, Auth),
        "0A" | "3B" => (P, Configuration),
        "24" | "25" | "26" | "2D" | "34" | "39" => (P, ConsumerBug),
        "42" => (P, ConsumerBug),
        "54" => (P, ResourceLimit),
        "P0" => (P, BusinessRule),
        _ => return None,
    })
}

/// Looks up a MySQL error number. Sources: the server's error reference; MySqlConnector `IsErrorTransient`; Spring's
/// sql-error-codes.xml.
pub fn mysql(number: u32) -> Option<(Class, Category)> {
    Some(match number {
        1205 | 1213 | 1614 | 3058 | 3101 | 3572 => (T, Conflict),
        1040 | 1041 | 1203 | 1226 | 1637 => (T, ResourceLimit),
        1037 | 1038 => (T, ResourceLimit),
        1042
        | 1043
        | 1047
        | 1053
        | 1077..=1079
        | 1081
        | 1129
        | 1152
        | 1154..=1158
        | 1160
        | 1184
        | 1189
        | 1190
        | 1927 => (T, DependencyUnavailable),
        2001..=2003 | 2006 | 2011..=2013 | 2027 | 2048 | 2055 => (T, DependencyUnavailable),
        1159 | 1161 | 3024 => (T, Timeout),
        1021 | 1114 => (U, ResourceLimit),
        1105 | 1290 | 1317 | 1836 => (U, Unknown),
        1044 | 1045 | 1142 | 1143 | 1227 | 1370 | 1396 | 1410 | 1698 | 1862 => (P, Auth),
        1046 | 1049 | 1235 | 1251 => (P, Configuration),
        1022 | 1062 | 1169 | 1557 | 1586 | 1859 => (P, Duplicate),
        1215..=1217 | 1451 | 1452 => (P, MissingReference),
        1051 | 1052 | 1054 | 1060 | 1061 | 1064 | 1065 | 1066 | 1091 | 1109 | 1110 | 1111 | 1136 | 1146 | 1149
        | 1222 | 1305 | 1318 => (P, ConsumerBug),
        1048
        | 1138
        | 1263..=1265
        | 1292
        | 1364
        | 1366
        | 1367
        | 1406
        | 1411
        | 1425..=1427
        | 1690
        | 3140..=3158
        | 3819
        | 4025 => (P, SchemaViolation),
        1071 | 1074 | 1118 | 1153 | 1301 => (P, ResourceLimit),
        _ => return None,
    })
}

/// Looks up an Oracle error number. Sources: the database error messages guide; Spring's sql-error-codes.xml.
pub fn oracle(number: u32) -> Option<(Class, Category)> {
    Some(match number {
        54 | 60 | 104 | 2049 | 4020 | 4021 | 8176 | 8177 | 30006 => (T, Conflict),
        18 | 20 | 12516 | 12518..=12520 => (T, ResourceLimit),
        1555 | 4068 | 25402..=25409 => (T, Conflict),
        1012
        | 1033
        | 1034
        | 1089
        | 1090
        | 1092
        | 3113
        | 3114
        | 3135
        | 12153
        | 12505
        | 12514
        | 12528
        | 12537
        | 12541..=12543
        | 12547
        | 12560
        | 12570
        | 12571
        | 17002
        | 17008
        | 17410
        | 17447 => (T, DependencyUnavailable),
        1013 => (U, Timeout),
        12170 | 12535 | 12606..=12609 | 51 => (T, Timeout),
        1 => (P, Duplicate),
        2291 | 2292 => (P, MissingReference),
        1017 | 1031 | 1045 | 1920 | 28000 | 28001 => (P, Auth),
        900..=999 | 6502 | 6512 | 6550 | 17003 | 17006 => (P, ConsumerBug),
        1400..=1407 | 1438 | 1476 | 1722 | 1830..=1899 | 2290 | 12899 => (P, SchemaViolation),
        12154 | 12162 => (P, Configuration),
        20000..=20999 => (P, BusinessRule),
        _ => return None,
    })
}

/// Looks up a SQL Server error number. Sources: sys.messages; EF Core's `SqlServerTransientExceptionDetector`;
/// Spring's sql-error-codes.xml. The sources disagree on 4060.
pub fn server(number: i64) -> Option<(Class, Category)> {
    Some(match number {
        1204 | 1205 | 1222 | 3960 | 3961 | 3966 | 41301 | 41302 | 41305 | 41325 | 41839 => (T, Conflict),
        10928 | 10929 | 10936 | 40501 | 40544 | 40549..=40553 | 40648 | 49918..=49920 => (T, Throttled),
        20 | 64 | 121 | 233 | 921 | 952 | 978 | 983 | 988 | 997 | 4221 | 10053 | 10054 | 10060 | 10061 | 11001
        | 14355 | 17197 | 18401 | 35201 | 40020 | 40143 | 40166 | 40197 | 40540 | 40613 | 42108 | 42109 | 49802 => {
            (T, DependencyUnavailable)
        }
        -2 => (T, Timeout),
        701 | 802 | 1101 | 1105 | 9002 => (U, ResourceLimit),
        4060 | 18456 => (U, Auth),
        2601 | 2627 => (P, Duplicate),
        547 => (P, MissingReference),
        229 | 230 | 262 | 297 => (P, Auth),
        102 | 137 | 156 | 170 | 201 | 207 | 208 | 209 | 213 | 2812 => (P, ConsumerBug),
        220 | 232 | 241 | 242 | 245 | 248 | 295 | 296 | 515 | 544 | 2628 | 8114 | 8115 | 8134 | 8152 => {
            (P, SchemaViolation)
        }
        50000 => (P, BusinessRule),
        _ => return None,
    })
}

/// Looks up a MongoDB error number that a driver retries or that is certainly permanent. Sources: the retryable writes
/// specification, error_codes.yml.
pub fn mongo(number: u32) -> Option<(Class, Category)> {
    Some(match number {
        6 | 7 | 91 | 189 | 9001 | 10058 | 10107 | 11600 | 11602 | 13435 | 13436 | 134 => (T, DependencyUnavailable),
        89 | 262 | 50 => (T, Timeout),
        24 | 112 | 246 => (T, Conflict),
        11000 | 11001 | 12582 => (P, Duplicate),
        2 | 14 | 72 | 121 | 10334 => (P, SchemaViolation),
        9 => (P, MalformedPayload),
        13 | 18 | 8000 => (P, Auth),
        26 | 27 | 43 => (P, MissingReference),
        40 | 59 | 66 | 115 | 168 => (P, ConsumerBug),
        _ => return None,
    })
}
