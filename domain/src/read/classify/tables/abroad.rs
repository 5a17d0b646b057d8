//! Sentences of databases and operating systems in other languages.
//!
//! Sources: the message catalogues of PostgreSQL 15 (src/backend/po), MariaDB 10.11 (sql/share/errmsg-utf8.txt), the
//! GNU C library 2.36 (po), the JDBC driver of PostgreSQL (translation/*.po), and the texts of Windows sockets and SQL
//! Server. Each is the part of a sentence that no value interrupts, in lower case. The errors are the commonest:
//! deadlock, lock timeout, serialisation, statement timeout, refused, reset, timed out, shutdown, too many connections,
//! duplicate, null, check, foreign key, missing table and column, syntax, too long, denied, login.

use super::wording::{Wording, count, slots};
use super::{P, T, U};
use crate::read::classify::grams::Slots;
use crate::reading::Category::*;

/// See [`slots`].
pub static SLOTS: [Slots; count(SENTENCES)] = slots(SENTENCES);

/// German, French, Spanish, Italian, Portuguese, Russian, Japanese, Chinese, Korean, Polish, Turkish, Dutch, Swedish
/// and Ukrainian, in this order in each list.
#[rustfmt::skip]
pub const SENTENCES: &[Wording] = &[
    (T, Conflict, &[
        "verklemmung (deadlock)", "deadlock aufgetreten", "deadlocksituation", "deadlockopfer", "zeitüberschreitung einer sperre", "warten auf eine sperre", "nicht serialisieren", "konnte sperre für zeile",
        "interblocage", "deadlock découvert", "victime du blocage", "délai écoulé pour l'obtention des verrous", "timeout sur l'obtention du verrou", "pas pu sérialiser", "pas pu obtenir un verrou",
        "detectado un deadlock", "estancamiento (deadlock)", "interbloqueo", "tiempo de espera de candados", "no se pudo serializar", "bloquear un candado", "rilevato deadlock", "trovato deadlock", "timeout di lock", "timeout per l'attesa del lock",
        "serializzazione dell'accesso fallita", "travamento fatal (deadlock)", "de travamento excedido", "взаимоблокировк", "тайм-аута блокировки", "не удалось сериализовать", "не удалось получить блокировку", "デッドロック", "ロックのタイムアウト", "直列化ができません",
        "行ロックを取得できません", "死锁", "锁超时", "无法串行化", "无法获取关系", "deadlock 발생", "잠금 대기 시간 초과", "순차적 액세스가 불가능", "잠금 정보를 구할 수 없음", "deadlock gevonden", "deadlock upptäckt", "lås-timeout", "взаємне блокування", "тайм-аут блокування",
    ]),
    (T, Timeout, &[
        "zeitüberschreitung", "wartezeit für die verbindung", "timeout ist abgelaufen", "das timeout wurde überschritten", "délai écoulé pour l'exécution", "expiration du délai", "délai d'attente", "timeout en lecture",
        "tiempo de espera de sentencias", "expiró el tiempo", "tiempo de espera agotado", "a causa di timeout", "connessione scaduta", "timeout ricevendo", "tempo esgotado", "expiração de tempo", "тайм-аута", "время ожидания соединения истекло", "истекло время ожидания",
        "ステートメントのタイムアウト", "接続がタイムアウト", "语句执行超时", "连接超时", "명령실행시간 초과", "연결 시간 초과", "przekroczony czas oczekiwania", "zaman aşımı", "verbinding is verlopen", "sats-timeout", "tidsgräns löpte ut", "тайм-аут", "перевищено інтервал",
    ]),
    (T, DependencyUnavailable, &[
        "verbindungsaufbau abgelehnt", "die verbindung verweigerte", "verbindung wurde vom kommunikationspartner", "vom remotehost geschlossen", "verbindung wurde geschlossen", "verbindungsversuch schlug fehl", "verbindung wird abgebrochen", "datenübergabe unterbrochen", "keine route zum zielrechner", "temporärer fehler bei der namensauflösung", "das datenbanksystem startet", "datenbanksystem fährt herunter", "server wird heruntergefahren", "beim senden an das backend",
        "connexion refusée", "ré-initialisée par le correspondant", "hôte distant a fermé", "connexion a été fermée", "tentative de connexion a échoué", "arrêt des connexions", "relais brisé", "aucun chemin d'accès pour atteindre", "temporaire dans la résolution du nom", "système de bases de données se lance", "système de base de données s'arrête", "arrêt du serveur", "d'entrée/sortie a eu lieu lors",
        "conexión rehusada", "conexión denegada", "conexión reinicializada", "interrupción forzada de una conexión", "intento de conexión falló", "terminando la conexión", "tubería rota", "no existe ninguna ruta hasta", "temporal en la resolución", "está iniciándose", "está apagándose", "error de e/s ha ocurrido",
        "connessione rifiutata", "connessione interrotta", "tentativo di connessione è fallito", "interruzione della connessione", "pipe interrotta", "nessun instradamento", "temporaneo nella risoluzione", "il database si sta avviando", "il database si sta spegnendo", "shutdown del server", "errore di i/o nella spedizione",
        "conexão recusada", "conexão fechada", "conexão foi fechada", "tentativa de conexão falhou", "pipe quebrado", "não há rota para", "na resolução de nome", "'shutdown' do servidor",
        "в соединении отказано", "соединение разорвано", "соединение закрыто", "не удалось подключиться", "закрытие подключения по команде", "обрыв канала", "нет маршрута", "сбой в разрешении имен", "система баз данных запускается", "система баз данных останавливается",
        "接続を拒否", "相手からリセット", "接続試行は失敗", "接続を終了しています", "既にクローズされています", "経路がありません", "名前解決に一時的に失敗", "起動処理中", "シャットダウンしています",
        "拒绝连接", "由于目标计算机积极拒绝", "连接被对方重设", "远程主机强迫关闭", "尝试连线已失败", "已经被关闭", "正在终止连接", "断开的管道", "没有到主机的路由", "域名解析暂时失败", "数据库系统正在启动", "数据库系统正在关闭",
        "연결이 거부됨", "연결을 끊음", "연결을 끝냅니다", "파이프가 깨어짐", "새로 가동 중", "시스템이 중지 중", "połączenie odrzucone", "połączenie zerwane", "połączenie zostało zamknięte", "próba nawiązania połączenia", "przerwany potok", "brak trasy",
        "bağlantı reddedildi", "bağlantı karşıdan kesildi", "bağlantı kapatıldı", "bağlantı denemesi başarısız", "verbinding is geweigerd", "verbinding is weggevallen", "förbindelsen förvägrad", "förbindelse borttagen", "avslutar anslutning", "з'єднанні відмовлено", "розірвав з’єднання", "завершення підключення",
    ]),
    (T, ResourceLimit, &[
        "zu viele verbindungen", "verbleibenden verbindungen sind", "trop de connexions", "trop de clients", "connexions restants", "demasiadas conexiones", "demasiados clientes", "conexiones restantes", "troppe connessioni", "troppi client", "slot di connessione", "excesso de conexões", "слишком много подключений", "слишком много клиентов", "слишком много соединений", "слоты подключений",
        "接続が多すぎます", "クライアント数が多すぎます", "接続スロット", "客户端连接过多", "的连接过多", "连接槽位", "최대 동시 접속", "연결 슬롯", "zbyt wiele połączeń", "te veel verbindingen", "för många uppkopplingar", "för många klienter", "забагато підключень", "забагато клієнтів",
    ]),
    (P, Duplicate, &[
        "doppelter schlüsselwert", "doppelter eintrag", "doppelte schlüssel", "clé dupliquée", "duplicata du champ", "llave duplicada", "clave duplicada", "entrada duplicada", "chiave duplicato", "valore duplicato", "duplicada para a chave", "повторяющееся значение ключа", "дублирующаяся запись",
        "重複したキー", "で重複しています", "重复键值", "重复条目", "重复键", "중복된 키", "powtórzone wystąpienie", "dubbele ingang", "duplicerat nyckelvärde", "повторювані значення ключа",
    ]),
    (P, MissingReference, &[
        "fremdschlüssel", "clé étrangère", "llave foránea", "clave foránea", "chiave esterna", "chave estrangeira", "внешнего ключа", "外部キー", "外键", "참조키", "främmande nyckel", "зовнішнього ключа",
        "datei oder verzeichnis nicht gefunden", "aucun fichier ou dossier", "no existe el fichero", "file o directory non esistente", "arquivo ou diretório inexistente", "нет такого файла", "そのようなファイルや", "没有那个文件", "그런 파일이나", "nie ma takiego pliku", "böyle bir dosya", "bestand of map bestaat niet", "filen eller katalogen finns inte", "немає такого файла",
    ]),
    (P, SchemaViolation, &[
        "not-null-constraint", "darf nicht null sein", "check-constraint", "zu lang für", "ungültige eingabesyntax", "außerhalb des gültigen bereichs", "contrainte not null", "ne peut être vide", "contrainte de vérification", "trop longue pour", "syntaxe en entrée invalide", "en dehors des limites",
        "restricción de no nulo", "no puede ser nul", "restricción «check»", "demasiado largo para", "sintaxis de entrada no es válida", "fuera de rango", "vincolo non nullo", "non puo` essere nulla", "vincolo di controllo", "troppo lungo per", "sintassi di input non valida", "fuori dall'intervallo", "não pode ser vazia",
        "ограничение not null", "не может принимать величину null", "ограничение-проверку", "не умещается в тип", "неверный синтаксис для типа", "вне диапазона", "非null制約", "検査制約", "としては長すぎます", "入力構文が不正", "の範囲外です", "非空约束", "检查约束", "值过长", "输入语法无效", "超出类型",
        "not null 제약", "체크 제약", "너무 긴 자료", "자료형 대한 잘못된 입력", "nie może być null", "not-null-villkoret", "för långt för typen", "ogiltig indatasyntax", "not-null обмеження", "занадто довге",
    ]),
    (P, ConsumerBug, &[
        "syntaxfehler", "existiert nicht", "unbekanntes tabellenfeld", "fehler in der sql-syntax", "division durch null", "erreur de syntaxe", "n'existe pas", "division par zéro", "error de sintaxis", "no existe la columna", "no existe la relación", "división por cero", "errore di sintassi", "non esiste", "colonna sconosciuta", "divisione per zero", "erro de sintaxe", "desconhecida em",
        "ошибка синтаксиса", "не существует", "деление на ноль", "構文エラー", "存在しません", "による除算", "语法错误", "不存在", "除以零", "구문 오류", "nieznana kolumna", "syntaxfel", "existerar inte", "синтаксична помилка", "не існує",
    ]),
    (P, Auth, &[
        "keine berechtigung", "keine zugriffsberechtigung", "passwort-authentifizierung", "zugriff verweigert", "operation ist nicht erlaubt", "fehler bei der anmeldung", "droit refusé", "permission non accordée", "accès refusé", "authentification par mot de passe échouée", "permiso denegado", "acceso denegado", "autentificación password falló", "error de inicio de sesión", "permesso negato", "accesso non consentito", "autenticazione con password fallita", "permissão negada", "acesso negado",
        "нет доступа к", "отказано в доступе", "доступ закрыт", "не прошёл проверку подлинности", "アクセスが拒否", "アクセスは拒否", "パスワード認証に失敗", "許可がありません", "的权限不足", "权限不够", "密码认证失败", "拒绝访问", "접근 권한 없음", "허가 거부", "인증을 실패", "brak dostępu", "erişim engellendi", "toegang geweigerd", "rättighet saknas", "lösenordsautentisering misslyckades", "åtkomst nekas", "немає дозволу", "відмовлено у доступі",
    ]),
    (U, ResourceLimit, &[
        "kein speicherplatz mehr", "speicher aufgebraucht", "aucun espace disponible", "mémoire épuisée", "no queda espacio", "memoria agotada", "spazio esaurito", "memoria esaurita", "não há espaço", "свободного места", "нехватка памяти", "空き領域がありません", "メモリ不足", "没有空间", "内存不足", "남은 공간이 없음", "메모리 부족", "brak miejsca na",
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_in_lower_case_and_stand_once() {
        let mut seen = alloc::collections::BTreeSet::new();
        for sentence in SENTENCES.iter().flat_map(|(_, _, sentences)| *sentences) {
            assert_eq!(*sentence, sentence.to_lowercase());
            assert!(seen.insert(*sentence), "{sentence} stands twice");
        }
    }
}
