select 1
show databases
show tables
select @@version_comment limit 1
SELECT DATABASE()
select DATABASE(), USER() limit 1
select @@character_set_client, @@character_set_connection, @@character_set_server, @@character_set_database limit 1
/*!40100 SET @@SQL_MODE='' */
/*!40103 SET TIME_ZONE='+00:00' */
/*M!100100 SET @@MAX_STATEMENT_TIME=0.000000 */
/*M!100100 SET WAIT_TIMEOUT=DEFAULT */
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ
START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */
UNLOCK TABLES
set optimizer_switch='semijoin=off'
SELECT LOGFILE_GROUP_NAME, FILE_NAME, TOTAL_EXTENTS, INITIAL_SIZE, ENGINE, EXTRA FROM INFORMATION_SCHEMA.FILES WHERE FILE_TYPE = 'UNDO LOG' AND FILE_NAME IS NOT NULL AND LOGFILE_GROUP_NAME IS NOT NULL AND LOGFILE_GROUP_NAME IN (SELECT DISTINCT LOGFILE_GROUP_NAME FROM INFORMATION_SCHEMA.FILES WHERE FILE_TYPE = 'DATAFILE' AND TABLESPACE_NAME IN (SELECT DISTINCT TABLESPACE_NAME FROM INFORMATION_SCHEMA.PARTITIONS WHERE TABLE_SCHEMA IN ('t'))) GROUP BY LOGFILE_GROUP_NAME, FILE_NAME, ENGINE, TOTAL_EXTENTS, INITIAL_SIZE ORDER BY LOGFILE_GROUP_NAME
SELECT DISTINCT TABLESPACE_NAME, FILE_NAME, LOGFILE_GROUP_NAME, EXTENT_SIZE, INITIAL_SIZE, ENGINE FROM INFORMATION_SCHEMA.FILES WHERE FILE_TYPE = 'DATAFILE' AND TABLESPACE_NAME IN (SELECT DISTINCT TABLESPACE_NAME FROM INFORMATION_SCHEMA.PARTITIONS WHERE TABLE_SCHEMA IN ('t')) ORDER BY TABLESPACE_NAME, LOGFILE_GROUP_NAME
set optimizer_switch=default
SAVEPOINT sp
SHOW FULL TABLES
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'a'
SET SQL_QUOTE_SHOW_CREATE=1
SET SESSION character_set_results = 'binary'
show create table `a`
SET SESSION character_set_results = 'utf8mb4'
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='a' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `v` FROM `a`
select @@collation_database
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'a'
ROLLBACK TO SAVEPOINT sp
RELEASE SAVEPOINT sp
SHOW STATUS LIKE 'binlog_snapshot_%'
SELECT BINLOG_GTID_POS('bin.000001', '1146')
show events
SHOW FUNCTION STATUS WHERE Db = 't'
SHOW PROCEDURE STATUS WHERE Db = 't'
SHOW /*!50002 FULL*/ TABLES
CHECK TABLE `a` 
CREATE INDEX k_1 ON sbtest1(k)
BEGIN
COMMIT
SELECT c FROM sbtest1 WHERE id=?
SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?
SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?
SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c
SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c
UPDATE sbtest1 SET k=k+1 WHERE id=?
UPDATE sbtest1 SET c=? WHERE id=?
DELETE FROM sbtest1 WHERE id=?
INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)
SET SESSION wait_timeout = 2147483
SET SESSION net_write_timeout = 2147483
SHOW PROCESSLIST
SELECT @@version_comment, @@version
FLUSH TABLES WITH READ LOCK
SELECT @@tokudb_version
START TRANSACTION /*!40108 WITH CONSISTENT SNAPSHOT */
/*!40101 SET NAMES binary*/
SHOW MASTER STATUS
SELECT @@gtid_binlog_pos
SELECT @@default_master_connection
SHOW TABLE STATUS
UNLOCK TABLES /* FTWRL */
SHOW CREATE DATABASE `t`
select COLUMN_NAME from information_schema.COLUMNS where TABLE_SCHEMA='t' and TABLE_NAME='a' and extra like '%GENERATED%'
SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`.`a`  
select COLUMN_NAME from information_schema.COLUMNS where TABLE_SCHEMA='t' and TABLE_NAME='sbtest1' and extra like '%GENERATED%'
SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`.`sbtest1`  
SHOW CREATE TABLE `t`.`a`
SHOW CREATE TABLE `t`.`sbtest1`
SHOW VARIABLES LIKE 'wait\_timeout'
SET SESSION wait_timeout=10000
SELECT @@SQL_MODE
SET @@SQL_QUOTE_SHOW_CREATE = 1/*!40101, @@SQL_MODE='NO_AUTO_VALUE_ON_ZERO,STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION'*/
SELECT VERSION()
SHOW VARIABLES LIKE 'character_set_server'
SELECT VERSION(), NOW()
SELECT DISTINCT User, Host FROM mysql.user  ORDER BY User, Host
    SELECT DISTINCT user.user AS name, user.host, IF(from_user IS NULL,0, 1) AS active
SHOW GRANTS FOR 'mariadb.sys'@'localhost'
SHOW GRANTS FOR 'root'@'127.0.0.1'
SHOW GRANTS FOR 'root'@'::1'
SHOW GRANTS FOR 'root'@'localhost'
SHOW GRANTS FOR 'root'@'localhost'
SHOW GRANTS FOR 'u'@'%'
SHOW VARIABLES LIKE 'innodb\_lock_wait_timeout'
SET SESSION innodb_lock_wait_timeout=1
SHOW VARIABLES LIKE 'lock\_wait_timeout'
SET SESSION lock_wait_timeout=60
SELECT @@server_id /*!50038 , @@hostname*/
SHOW VARIABLES LIKE 'wsrep_on'
SHOW VARIABLES LIKE 'version%'
SHOW ENGINES
SHOW VARIABLES LIKE 'innodb_version'
SHOW VARIABLES LIKE 'innodb_stats_persistent'
SELECT @@SERVER_ID
SHOW SLAVE HOSTS
SHOW GLOBAL STATUS LIKE 'Threads_running'
SHOW TABLES FROM `t` LIKE 'a'
SHOW TRIGGERS FROM `t` LIKE 'a'
/*!40101 SET @OLD_SQL_MODE := @@SQL_MODE, @@SQL_MODE := '', @OLD_QUOTE := @@SQL_QUOTE_SHOW_CREATE, @@SQL_QUOTE_SHOW_CREATE := 1 */
USE `t`
/*!40101 SET @@SQL_MODE := @OLD_SQL_MODE, @@SQL_QUOTE_SHOW_CREATE := @OLD_QUOTE */
EXPLAIN SELECT * FROM `t`.`a` WHERE 1=1
SELECT table_schema, table_name FROM information_schema.key_column_usage WHERE referenced_table_schema='t' AND referenced_table_name='a'
ALTER TABLE `t`.`_a_new` add c int
SHOW CREATE TABLE `t`.`_a_new`
SELECT TRIGGER_SCHEMA, TRIGGER_NAME, DEFINER, ACTION_STATEMENT, SQL_MODE,        CHARACTER_SET_CLIENT, COLLATION_CONNECTION, EVENT_MANIPULATION, ACTION_TIMING   FROM INFORMATION_SCHEMA.TRIGGERS  WHERE EVENT_MANIPULATION = 'DELETE'    AND ACTION_TIMING = 'AFTER'    AND TRIGGER_SCHEMA = 't'    AND EVENT_OBJECT_TABLE = 'a'
SELECT TRIGGER_SCHEMA, TRIGGER_NAME, DEFINER, ACTION_STATEMENT, SQL_MODE,        CHARACTER_SET_CLIENT, COLLATION_CONNECTION, EVENT_MANIPULATION, ACTION_TIMING   FROM INFORMATION_SCHEMA.TRIGGERS  WHERE EVENT_MANIPULATION = 'UPDATE'    AND ACTION_TIMING = 'AFTER'    AND TRIGGER_SCHEMA = 't'    AND EVENT_OBJECT_TABLE = 'a'
SELECT TRIGGER_SCHEMA, TRIGGER_NAME, DEFINER, ACTION_STATEMENT, SQL_MODE,        CHARACTER_SET_CLIENT, COLLATION_CONNECTION, EVENT_MANIPULATION, ACTION_TIMING   FROM INFORMATION_SCHEMA.TRIGGERS  WHERE EVENT_MANIPULATION = 'INSERT'    AND ACTION_TIMING = 'AFTER'    AND TRIGGER_SCHEMA = 't'    AND EVENT_OBJECT_TABLE = 'a'
SELECT TRIGGER_SCHEMA, TRIGGER_NAME, DEFINER, ACTION_STATEMENT, SQL_MODE,        CHARACTER_SET_CLIENT, COLLATION_CONNECTION, EVENT_MANIPULATION, ACTION_TIMING   FROM INFORMATION_SCHEMA.TRIGGERS  WHERE EVENT_MANIPULATION = 'DELETE'    AND ACTION_TIMING = 'BEFORE'    AND TRIGGER_SCHEMA = 't'    AND EVENT_OBJECT_TABLE = 'a'
SELECT TRIGGER_SCHEMA, TRIGGER_NAME, DEFINER, ACTION_STATEMENT, SQL_MODE,        CHARACTER_SET_CLIENT, COLLATION_CONNECTION, EVENT_MANIPULATION, ACTION_TIMING   FROM INFORMATION_SCHEMA.TRIGGERS  WHERE EVENT_MANIPULATION = 'UPDATE'    AND ACTION_TIMING = 'BEFORE'    AND TRIGGER_SCHEMA = 't'    AND EVENT_OBJECT_TABLE = 'a'
SELECT TRIGGER_SCHEMA, TRIGGER_NAME, DEFINER, ACTION_STATEMENT, SQL_MODE,        CHARACTER_SET_CLIENT, COLLATION_CONNECTION, EVENT_MANIPULATION, ACTION_TIMING   FROM INFORMATION_SCHEMA.TRIGGERS  WHERE EVENT_MANIPULATION = 'INSERT'    AND ACTION_TIMING = 'BEFORE'    AND TRIGGER_SCHEMA = 't'    AND EVENT_OBJECT_TABLE = 'a'
CREATE TRIGGER `pt_osc_t_a_del` AFTER DELETE ON `t`.`a` FOR EACH ROW DELETE IGNORE FROM `t`.`_a_new` WHERE `t`.`_a_new`.`id` <=> OLD.`id`
CREATE TRIGGER `pt_osc_t_a_upd` AFTER UPDATE ON `t`.`a` FOR EACH ROW BEGIN DELETE IGNORE FROM `t`.`_a_new` WHERE !(OLD.`id` <=> NEW.`id`) AND `t`.`_a_new`.`id` <=> OLD.`id`;REPLACE INTO `t`.`_a_new` (`id`, `v`) VALUES (NEW.`id`, NEW.`v`);END 
CREATE TRIGGER `pt_osc_t_a_ins` AFTER INSERT ON `t`.`a` FOR EACH ROW REPLACE INTO `t`.`_a_new` (`id`, `v`) VALUES (NEW.`id`, NEW.`v`)
EXPLAIN SELECT `id`, `v` FROM `t`.`a` LOCK IN SHARE MODE /*explain pt-online-schema-change 25812 copy table*/
INSERT LOW_PRIORITY IGNORE INTO `t`.`_a_new` (`id`, `v`) SELECT `id`, `v` FROM `t`.`a` LOCK IN SHARE MODE /*pt-online-schema-change 25812 copy table*/
SHOW WARNINGS
ANALYZE TABLE `t`.`_a_new` /* pt-online-schema-change */
RENAME TABLE `t`.`a` TO `t`.`_a_old`, `t`.`_a_new` TO `t`.`a`
DROP TABLE IF EXISTS `t`.`_a_old`
DROP TRIGGER IF EXISTS `t`.`pt_osc_t_a_del`
DROP TRIGGER IF EXISTS `t`.`pt_osc_t_a_upd`
DROP TRIGGER IF EXISTS `t`.`pt_osc_t_a_ins`
SHOW TABLES FROM `t` LIKE '\_a\_new'
SET NAMES utf8mb4
SET AUTOCOMMIT = 0
select * from a where id=1
SET NAMES 'utf8mb4' COLLATE 'utf8mb4_general_ci'
SET @@session.autocommit = OFF
select * from a where id=?
SELECT @@tx_isolation
SELECT @@sql_mode
SELECT @@lower_case_table_names
ROLLBACK
SHOW FULL TABLES FROM `t`
SHOW CREATE TABLE `a`
DESCRIBE `t`.`zz`
SHOW schemas
SET AUTOCOMMIT = 1
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
CREATE TABLE `django_migrations` (`id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY, `app` varchar(255) NOT NULL, `name` varchar(255) NOT NULL, `applied` datetime(6) NOT NULL)
CREATE TABLE `django_content_type` (`id` integer AUTO_INCREMENT NOT NULL PRIMARY KEY, `name` varchar(100) NOT NULL, `app_label` varchar(100) NOT NULL, `model` varchar(100) NOT NULL)
ALTER TABLE `django_content_type` ADD CONSTRAINT `django_content_type_app_label_model_76bd3d3b_uniq` UNIQUE (`app_label`, `model`)
ALTER TABLE `django_content_type` MODIFY `name` varchar(100) NULL
ALTER TABLE `django_content_type` DROP COLUMN `name`
CREATE TABLE `auth_permission` (`id` integer AUTO_INCREMENT NOT NULL PRIMARY KEY, `name` varchar(50) NOT NULL, `content_type_id` integer NOT NULL, `codename` varchar(100) NOT NULL)
CREATE TABLE `auth_group` (`id` integer AUTO_INCREMENT NOT NULL PRIMARY KEY, `name` varchar(80) NOT NULL UNIQUE)
CREATE TABLE `auth_group_permissions` (`id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY, `group_id` integer NOT NULL, `permission_id` integer NOT NULL)
CREATE TABLE `auth_user` (`id` integer AUTO_INCREMENT NOT NULL PRIMARY KEY, `password` varchar(128) NOT NULL, `last_login` datetime(6) NOT NULL, `is_superuser` bool NOT NULL, `username` varchar(30) NOT NULL UNIQUE, `first_name` varchar(30) NOT NULL, `last_name` varchar(30) NOT NULL, `email` varchar(75) NOT NULL, `is_staff` bool NOT NULL, `is_active` bool NOT NULL, `date_joined` datetime(6) NOT NULL)
CREATE TABLE `auth_user_groups` (`id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY, `user_id` integer NOT NULL, `group_id` integer NOT NULL)
CREATE TABLE `auth_user_user_permissions` (`id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY, `user_id` integer NOT NULL, `permission_id` integer NOT NULL)
ALTER TABLE `auth_permission` ADD CONSTRAINT `auth_permission_content_type_id_codename_01ab375a_uniq` UNIQUE (`content_type_id`, `codename`)
ALTER TABLE `auth_permission` ADD CONSTRAINT `auth_permission_content_type_id_2f476e4b_fk_django_co` FOREIGN KEY (`content_type_id`) REFERENCES `django_content_type` (`id`)
ALTER TABLE `auth_group_permissions` ADD CONSTRAINT `auth_group_permissions_group_id_permission_id_0cd325b0_uniq` UNIQUE (`group_id`, `permission_id`)
ALTER TABLE `auth_group_permissions` ADD CONSTRAINT `auth_group_permissions_group_id_b120cbf9_fk_auth_group_id` FOREIGN KEY (`group_id`) REFERENCES `auth_group` (`id`)
ALTER TABLE `auth_group_permissions` ADD CONSTRAINT `auth_group_permissio_permission_id_84c5c92e_fk_auth_perm` FOREIGN KEY (`permission_id`) REFERENCES `auth_permission` (`id`)
ALTER TABLE `auth_user_groups` ADD CONSTRAINT `auth_user_groups_user_id_group_id_94350c0c_uniq` UNIQUE (`user_id`, `group_id`)
ALTER TABLE `auth_user_groups` ADD CONSTRAINT `auth_user_groups_user_id_6a12ed8b_fk_auth_user_id` FOREIGN KEY (`user_id`) REFERENCES `auth_user` (`id`)
ALTER TABLE `auth_user_groups` ADD CONSTRAINT `auth_user_groups_group_id_97559544_fk_auth_group_id` FOREIGN KEY (`group_id`) REFERENCES `auth_group` (`id`)
ALTER TABLE `auth_user_user_permissions` ADD CONSTRAINT `auth_user_user_permissions_user_id_permission_id_14a6b632_uniq` UNIQUE (`user_id`, `permission_id`)
ALTER TABLE `auth_user_user_permissions` ADD CONSTRAINT `auth_user_user_permissions_user_id_a95ead1b_fk_auth_user_id` FOREIGN KEY (`user_id`) REFERENCES `auth_user` (`id`)
ALTER TABLE `auth_user_user_permissions` ADD CONSTRAINT `auth_user_user_permi_permission_id_1fbb5f2c_fk_auth_perm` FOREIGN KEY (`permission_id`) REFERENCES `auth_permission` (`id`)
ALTER TABLE `auth_permission` MODIFY `name` varchar(255) NOT NULL
ALTER TABLE `auth_user` MODIFY `email` varchar(254) NOT NULL
ALTER TABLE `auth_user` MODIFY `last_login` datetime(6) NULL
ALTER TABLE `auth_user` MODIFY `username` varchar(150) NOT NULL
ALTER TABLE `auth_user` MODIFY `last_name` varchar(150) NOT NULL
ALTER TABLE `auth_group` MODIFY `name` varchar(150) NOT NULL
ALTER TABLE `auth_user` MODIFY `first_name` varchar(150) NOT NULL
SELECT `django_migrations`.`id`, `django_migrations`.`app`, `django_migrations`.`name`, `django_migrations`.`applied` FROM `django_migrations`
SELECT `django_content_type`.`id`, `django_content_type`.`app_label`, `django_content_type`.`model` FROM `django_content_type` WHERE `django_content_type`.`app_label` = 'contenttypes'
SELECT `django_content_type`.`id`, `django_content_type`.`app_label`, `django_content_type`.`model` FROM `django_content_type` WHERE (`django_content_type`.`app_label` = 'contenttypes' AND `django_content_type`.`model` IN ('contenttype'))
SELECT `auth_permission`.`content_type_id` AS `content_type`, `auth_permission`.`codename` AS `codename` FROM `auth_permission` INNER JOIN `django_content_type` ON (`auth_permission`.`content_type_id` = `django_content_type`.`id`) WHERE `auth_permission`.`content_type_id` IN (1) ORDER BY `django_content_type`.`app_label` ASC, `django_content_type`.`model` ASC, 2 ASC
SELECT `django_content_type`.`id`, `django_content_type`.`app_label`, `django_content_type`.`model` FROM `django_content_type` WHERE `django_content_type`.`app_label` = 'auth'
SELECT `django_content_type`.`id`, `django_content_type`.`app_label`, `django_content_type`.`model` FROM `django_content_type` WHERE (`django_content_type`.`app_label` = 'auth' AND `django_content_type`.`model` IN ('permission', 'user', 'group'))
SELECT `auth_permission`.`content_type_id` AS `content_type`, `auth_permission`.`codename` AS `codename` FROM `auth_permission` INNER JOIN `django_content_type` ON (`auth_permission`.`content_type_id` = `django_content_type`.`id`) WHERE `auth_permission`.`content_type_id` IN (2, 3, 4) ORDER BY `django_content_type`.`app_label` ASC, `django_content_type`.`model` ASC, 2 ASC
SELECT * FROM `a` LIMIT 1
SHOW INDEX FROM `a`
SELECT * FROM `auth_group` LIMIT 1
SHOW INDEX FROM `auth_group`
SELECT * FROM `auth_group_permissions` LIMIT 1
SHOW INDEX FROM `auth_group_permissions`
SELECT * FROM `auth_permission` LIMIT 1
SHOW INDEX FROM `auth_permission`
SELECT * FROM `django_content_type` LIMIT 1
SHOW INDEX FROM `django_content_type`
SELECT * FROM `auth_user` LIMIT 1
SHOW INDEX FROM `auth_user`
SELECT * FROM `auth_user_groups` LIMIT 1
SHOW INDEX FROM `auth_user_groups`
SELECT * FROM `auth_user_user_permissions` LIMIT 1
SHOW INDEX FROM `auth_user_user_permissions`
SELECT * FROM `django_migrations` LIMIT 1
SHOW INDEX FROM `django_migrations`
SELECT * FROM `sbtest1` LIMIT 1
SHOW INDEX FROM `sbtest1`
SELECT `auth_user`.`id`, `auth_user`.`password`, `auth_user`.`last_login`, `auth_user`.`is_superuser`, `auth_user`.`username`, `auth_user`.`first_name`, `auth_user`.`last_name`, `auth_user`.`email`, `auth_user`.`is_staff`, `auth_user`.`is_active`, `auth_user`.`date_joined` FROM `auth_user` WHERE `auth_user`.`id` = 1 FOR UPDATE SKIP LOCKED
SELECT table_name FROM information_schema.tables WHERE table_schema = COALESCE(NULL, DATABASE()) AND table_type != 'VIEW' ORDER BY table_name
SET NAMES utf8
SHOW GLOBAL VARIABLES LIKE 'BINLOG_CHECKSUM'
SET @master_binlog_checksum= @@global.binlog_checksum
SET @mariadb_slave_capability=4
SET @slave_gtid_strict_mode=1
SET @slave_gtid_ignore_duplicates=0
SHOW VARIABLES LIKE 'BINLOG_ROW_METADATA'
select 1 as a
START TRANSACTION
SET time_zone = '+00:00'
SELECT VERSION() as `version`
SELECT 1+1 AS result
SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_NAME = 'sqs' AND TABLE_SCHEMA = 't'
CREATE TABLE IF NOT EXISTS `sqs` (`id` INTEGER NOT NULL auto_increment , `n` VARCHAR(255), `createdAt` DATETIME NOT NULL, `updatedAt` DATETIME NOT NULL, PRIMARY KEY (`id`)) ENGINE=InnoDB
SHOW INDEX FROM `sqs`
SHOW FULL COLUMNS FROM `sqs`
SELECT CONSTRAINT_NAME as constraint_name,CONSTRAINT_NAME as constraintName,CONSTRAINT_SCHEMA as constraintSchema,CONSTRAINT_SCHEMA as constraintCatalog,TABLE_NAME as tableName,TABLE_SCHEMA as tableSchema,TABLE_SCHEMA as tableCatalog,COLUMN_NAME as columnName,REFERENCED_TABLE_SCHEMA as referencedTableSchema,REFERENCED_TABLE_SCHEMA as referencedTableCatalog,REFERENCED_TABLE_NAME as referencedTableName,REFERENCED_COLUMN_NAME as referencedColumnName FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE where TABLE_NAME = 'sqs' AND CONSTRAINT_NAME!='PRIMARY' AND CONSTRAINT_SCHEMA='t' AND REFERENCED_TABLE_NAME IS NOT NULL
ALTER TABLE `sqs` CHANGE `n` `n` VARCHAR(255)
ALTER TABLE `sqs` CHANGE `createdAt` `createdAt` DATETIME NOT NULL
ALTER TABLE `sqs` CHANGE `updatedAt` `updatedAt` DATETIME NOT NULL
START TRANSACTION
INSERT INTO `sqs` (`id`,`n`,`createdAt`,`updatedAt`) VALUES (DEFAULT,?,?,?)
COMMIT
select version() as version
select * from information_schema.tables where table_name = 'a' and table_schema = database()
select * from information_schema.columns where table_name = 'a' and table_schema = 't'
BEGIN
select * from `a` where `id` = 1 for update
SELECT version() as version
SELECT DATABASE() AS `db_name`
SELECT `TABLE_SCHEMA`, `TABLE_NAME`, `TABLE_COMMENT` FROM `INFORMATION_SCHEMA`.`TABLES` WHERE `TABLE_SCHEMA` = 't' AND `TABLE_NAME` = 'ty'
SELECT * FROM `INFORMATION_SCHEMA`.`COLUMNS` WHERE `TABLE_SCHEMA` = 't' AND `TABLE_NAME` = 'typeorm_metadata'
CREATE TABLE `ty` (`id` int NOT NULL AUTO_INCREMENT, `n` varchar(255) NOT NULL, PRIMARY KEY (`id`)) ENGINE=InnoDB
INSERT INTO `ty`(`id`, `n`) VALUES (DEFAULT, 'q')
SELECT * FROM `INFORMATION_SCHEMA`.`COLUMNS` WHERE `TABLE_SCHEMA` = 't' AND `TABLE_NAME` = 'ty'
SELECT * FROM (SELECT * FROM `INFORMATION_SCHEMA`.`KEY_COLUMN_USAGE` `kcu` WHERE `kcu`.`TABLE_SCHEMA` = 't' AND `kcu`.`TABLE_NAME` = 'ty') `kcu` WHERE `CONSTRAINT_NAME` = 'PRIMARY'
SELECT `SCHEMA_NAME`, `DEFAULT_CHARACTER_SET_NAME` as `CHARSET`, `DEFAULT_COLLATION_NAME` AS `COLLATION` FROM `INFORMATION_SCHEMA`.`SCHEMATA`
SELECT `s`.* FROM (SELECT * FROM `INFORMATION_SCHEMA`.`STATISTICS` WHERE `TABLE_SCHEMA` = 't' AND `TABLE_NAME` = 'ty') `s` LEFT JOIN (SELECT * FROM `INFORMATION_SCHEMA`.`REFERENTIAL_CONSTRAINTS` WHERE `CONSTRAINT_SCHEMA` = 't' AND `TABLE_NAME` = 'ty') `rc` ON `s`.`INDEX_NAME` = `rc`.`CONSTRAINT_NAME` AND `s`.`TABLE_SCHEMA` = `rc`.`CONSTRAINT_SCHEMA` WHERE `s`.`INDEX_NAME` != 'PRIMARY' AND `rc`.`CONSTRAINT_NAME` IS NULL
SELECT `kcu`.`TABLE_SCHEMA`, `kcu`.`TABLE_NAME`, `kcu`.`CONSTRAINT_NAME`, `kcu`.`COLUMN_NAME`, `kcu`.`REFERENCED_TABLE_SCHEMA`, `kcu`.`REFERENCED_TABLE_NAME`, `kcu`.`REFERENCED_COLUMN_NAME`, `rc`.`DELETE_RULE` `ON_DELETE`, `rc`.`UPDATE_RULE` `ON_UPDATE` FROM (SELECT * FROM `INFORMATION_SCHEMA`.`KEY_COLUMN_USAGE` `kcu` WHERE `kcu`.`TABLE_SCHEMA` = 't' AND `kcu`.`TABLE_NAME` = 'ty') `kcu` INNER JOIN (SELECT * FROM `INFORMATION_SCHEMA`.`REFERENTIAL_CONSTRAINTS` WHERE `CONSTRAINT_SCHEMA` = 't' AND `TABLE_NAME` = 'ty') `rc` ON `rc`.`CONSTRAINT_SCHEMA` = `kcu`.`CONSTRAINT_SCHEMA` AND `rc`.`TABLE_NAME` = `kcu`.`TABLE_NAME` AND `rc`.`CONSTRAINT_NAME` = `kcu`.`CONSTRAINT_NAME`
select id from a where id=?
update a set v='q' where id=?
SELECT SCHEMA_NAME from Information_schema.SCHEMATA where SCHEMA_NAME LIKE ? ORDER BY SCHEMA_NAME=? DESC,SCHEMA_NAME limit 1
SELECT count(*) FROM information_schema.tables WHERE table_schema = ? AND table_name = ? AND table_type = ?
CREATE TABLE `gxes` (`id` bigint unsigned AUTO_INCREMENT,`n` varchar(40),`t` datetime(3) NULL,PRIMARY KEY (`id`),INDEX `idx_gxes_n` (`n`))
SELECT * FROM `gxes` LIMIT ?
SELECT column_name, column_default, is_nullable = 'YES', data_type, character_maximum_length, column_type, column_key, extra, column_comment, numeric_precision, numeric_scale , datetime_precision FROM information_schema.columns WHERE table_schema = ? AND table_name = ? ORDER BY ORDINAL_POSITION
SELECT count(*) FROM information_schema.statistics WHERE table_schema = ? AND table_name = ? AND index_name = ?
/* mysql-connector-j-9.4.0 (Revision: d680767849154c8e136dfc3d8a0ae4d9fefd1fb7) */SELECT  @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@query_cache_size AS query_cache_size, @@query_cache_type AS query_cache_type, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@tx_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout
SET character_set_results = NULL
SET autocommit=1
SET autocommit=0
SHOW FULL TABLES FROM `t` LIKE '%'
SHOW FULL TABLES FROM `t` LIKE 'a'
SHOW FULL COLUMNS FROM `a` FROM `t` LIKE '%'
SHOW KEYS FROM `a` FROM `t`
SHOW INDEX FROM `a` FROM `t`
SELECT UNIX_TIMESTAMP()
SHOW VARIABLES LIKE 'SERVER_ID'
SET @master_heartbeat_period= 30000001024
SELECT @master_binlog_checksum
SELECT binlog_gtid_pos('bin.000001',4)
set session time_zone = '+00:00';set @`spider_lc_./s0/o` = '-02fc00000001-e79-./f/o-'
SET NAMES latin1
show table status from `s0` like 'o'
show index from `s0`.`o`
set @`spider_lc_./s1/o` = '-02fc00000001-e79-./f/o-'
show table status from `s1` like 'o'
show index from `s1`.`o`
set session transaction isolation level repeatable read;set session autocommit = 1;set session wait_timeout = 604800;set session sql_mode = 'strict_trans_tables,error_for_division_by_zero,no_auto_create_user,no_engine_substitution';start transaction
insert into `s0`.`o`(`id`,`c`,`n`)values(2,'b',20)
insert into `s1`.`o`(`id`,`c`,`n`)values(1,'a',10),(3,'c',30)
commit
set session transaction isolation level repeatable read;set session autocommit = 1;set session wait_timeout = 604800;set session sql_mode = 'strict_trans_tables,error_for_division_by_zero,no_auto_create_user,no_engine_substitution';set session time_zone = '+00:00';set @`spider_lc_./s0/o` = '-02fc00000001-e79-./f/o-';start transaction
select `id`,`c`,`n` from `s0`.`o` where `id` = 2
set session transaction isolation level repeatable read;set session autocommit = 1;set session wait_timeout = 604800;set session sql_mode = 'strict_trans_tables,error_for_division_by_zero,no_auto_create_user,no_engine_substitution';set session time_zone = '+00:00';set @`spider_lc_./s0/o` = '-02fc00000001-e79-./f/o-';set @`spider_lc_./s1/o` = '-02fc00000001-e79-./f/o-';start transaction
select sum(`n`),count(0),min(`n`) from `s0`.`o`
select sum(`n`),count(0),min(`n`) from `s1`.`o`
update `s0`.`o` set `n` = (`n` + 1) where (`id` in( 1 , 2))
update `s1`.`o` set `n` = (`n` + 1) where (`id` in( 1 , 2))
select `id`,`c`,`n` from `s0`.`o`
select `id`,`c`,`n` from `s1`.`o`
set session transaction isolation level repeatable read;set session autocommit = 1;set session wait_timeout = 604800;set session sql_mode = 'strict_trans_tables,error_for_division_by_zero,no_auto_create_user,no_engine_substitution';set session time_zone = '+00:00';set @`spider_lc_./s1/o` = '-02fc00000001-e79-./f/o-';start transaction
delete from `s1`.`o` where (`id` = 3)
select count(0),min(`id`) from `s0`.`o`
select count(0),min(`id`) from `s1`.`o`
set session time_zone = '+00:00';set @`spider_lc_./s0/o` = '-02fc00000001-119e-./f/o-'
set @`spider_lc_./s1/o` = '-02fc00000001-119e-./f/o-'
set session transaction isolation level repeatable read;set session autocommit = 1;set session wait_timeout = 604800;set session sql_mode = 'strict_trans_tables,error_for_division_by_zero,no_auto_create_user,no_engine_substitution';xa start 0x35,0x38,1
insert into `s0`.`o`(`id`,`c`,`n`)values(8,'y',2)
insert into `s1`.`o`(`id`,`c`,`n`)values(7,'z',1)
xa end 0x35,0x38,1
xa prepare 0x35,0x38,1
xa commit 0x35,0x38,1
set session transaction isolation level repeatable read;set session autocommit = 1;set session wait_timeout = 604800;set session sql_mode = 'strict_trans_tables,error_for_division_by_zero,no_auto_create_user,no_engine_substitution';set session time_zone = '+00:00';set @`spider_lc_./s0/o` = '-02fc00000001-119e-./f/o-';set @`spider_lc_./s1/o` = '-02fc00000001-119e-./f/o-';xa start 0x35,0x38,1
/* mysql-connector-j-9.4.0 (Revision: d680767849154c8e136dfc3d8a0ae4d9fefd1fb7) */SELECT  @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout
SHOW TABLES LIKE '%'
SELECT /*!40001 SQL_NO_CACHE */ `id`, `v`, `c` FROM `a`
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'auth_group'
show create table `auth_group`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='auth_group' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `name` FROM `auth_group`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'auth_group'
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'auth_group_permissions'
show create table `auth_group_permissions`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='auth_group_permissions' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `group_id`, `permission_id` FROM `auth_group_permissions`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'auth_group_permissions'
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'auth_permission'
show create table `auth_permission`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='auth_permission' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `name`, `content_type_id`, `codename` FROM `auth_permission`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'auth_permission'
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'auth_user'
show create table `auth_user`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='auth_user' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `password`, `last_login`, `is_superuser`, `username`, `first_name`, `last_name`, `email`, `is_staff`, `is_active`, `date_joined` FROM `auth_user`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'auth_user'
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'auth_user_groups'
show create table `auth_user_groups`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='auth_user_groups' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `user_id`, `group_id` FROM `auth_user_groups`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'auth_user_groups'
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'auth_user_user_permissions'
show create table `auth_user_user_permissions`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='auth_user_user_permissions' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `user_id`, `permission_id` FROM `auth_user_user_permissions`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'auth_user_user_permissions'
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'django_content_type'
show create table `django_content_type`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='django_content_type' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `app_label`, `model` FROM `django_content_type`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'django_content_type'
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'django_migrations'
show create table `django_migrations`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='django_migrations' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `app`, `name`, `applied` FROM `django_migrations`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'django_migrations'
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'gxes'
show create table `gxes`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='gxes' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `n`, `t` FROM `gxes`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'gxes'
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'sbtest1'
show create table `sbtest1`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='sbtest1' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `k`, `c`, `pad` FROM `sbtest1`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'sbtest1'
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'sqs'
show create table `sqs`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='sqs' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `n`, `createdAt`, `updatedAt` FROM `sqs`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'sqs'
SELECT engine, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 'ty'
show create table `ty`
select column_name, extra, generation_expression, data_type from information_schema.columns where table_schema=database() and table_name='ty' order by ordinal_position
SELECT /*!40001 SQL_NO_CACHE */ `id`, `n` FROM `ty`
SELECT TRIGGER_NAME FROM INFORMATION_SCHEMA.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = 'ty'
