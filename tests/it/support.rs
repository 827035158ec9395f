//! What the other tests stand on: a database a test.

use flow_tests::support::TestDb;

async fn tables(db: &TestDb) -> i64 {
    let count = "select count(*) from pg_tables t where t.tablename = 'mine'";
    sqlx::query_scalar(count).fetch_one(db.pool()).await.unwrap()
}

#[tokio::test]
async fn each_test_has_a_database_of_its_own() {
    let (one, two) = (TestDb::new().await, TestDb::new().await);
    sqlx::raw_sql("create table mine ()").execute(one.pool()).await.unwrap();
    assert_eq!((tables(&one).await, tables(&two).await), (1, 0));
}

#[tokio::test]
async fn a_test_database_is_migrated_and_set_to_development() {
    let db = TestDb::new().await;
    let setting = "select s.value #>> '{}' from flow.setting s where s.name = 'environment'";
    let setting: String = sqlx::query_scalar(setting).fetch_one(db.pool()).await.unwrap();
    assert_eq!(setting, "development");
}

#[tokio::test]
async fn a_second_test_of_the_process_shares_the_server() {
    let db = TestDb::new().await;
    assert_eq!(tables(&db).await, 0);
}
