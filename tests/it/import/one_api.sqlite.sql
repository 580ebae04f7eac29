-- The tables of one-api as gorm creates them in SQLite, with rows. NOW is the present second.
CREATE TABLE `users` (`id` integer PRIMARY KEY AUTOINCREMENT,`username` text,`password` text NOT NULL,`display_name` text,
    `role` int DEFAULT 1,`status` int DEFAULT 1,`email` text,`github_id` text,`wechat_id` text,`lark_id` text,`oidc_id` text,
    `access_token` char(32),`quota` bigint DEFAULT 0,`used_quota` bigint DEFAULT 0,`request_count` int DEFAULT 0,
    `group` varchar(32) DEFAULT 'default',`aff_code` varchar(32),`inviter_id` int,
    CONSTRAINT `uni_users_username` UNIQUE (`username`));
CREATE TABLE `tokens` (`id` integer PRIMARY KEY AUTOINCREMENT,`user_id` integer,`key` char(48),`status` integer DEFAULT 1,
    `name` text,`created_time` bigint,`accessed_time` bigint,`expired_time` bigint DEFAULT -1,`remain_quota` bigint DEFAULT 0,
    `unlimited_quota` numeric DEFAULT false,`used_quota` bigint DEFAULT 0,`models` text,`subnet` text DEFAULT '');
CREATE TABLE `logs` (`id` integer PRIMARY KEY AUTOINCREMENT,`user_id` integer,`created_at` bigint,`type` integer,`content` text,
    `username` text DEFAULT '',`token_name` text DEFAULT '',`model_name` text DEFAULT '',`quota` integer DEFAULT 0,
    `prompt_tokens` integer DEFAULT 0,`completion_tokens` integer DEFAULT 0,`channel_id` integer);

INSERT INTO users (id, username, password, role, status, access_token, quota, used_quota, request_count) VALUES
    (1, 'root', '$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e', 100, 1, '', 1, 0, 0),
    (2, 'ben', '', 1, 1, 'benbenbenbenbenbenbenbenbenbenbe', 1000, 90, 3),
    (3, 'deleted_xyz', '', 1, 3, 'goneagoneagoneagoneagoneagoneagon', 5, 0, 0);
INSERT INTO tokens (id, user_id, key, status, name, created_time, accessed_time, expired_time, remain_quota,
    unlimited_quota, used_quota, models, subnet) VALUES
    (1, 2, 'a1B2c3D4e5F6g7H80123456789abcdef0123456789abcdef', 1, 'one', 1, 1, -1, 40, 0, 60, 'gpt-4o,o3', '10.0.0.0/8,192.168.1.1'),
    (2, 2, 'Q1B2c3D4e5F6g7H80123456789abcdef0123456789abcdef', 1, 'two', 1, 1, -1, 0, 1, 30, null, null),
    (3, 3, 'R1B2c3D4e5F6g7H80123456789abcdef0123456789abcdef', 1, 'three', 1, 1, -1, 5, 0, 0, '', '');
INSERT INTO logs (user_id, created_at, type, token_name, model_name, quota, prompt_tokens, completion_tokens) VALUES
    (2, NOW - 86400, 2, 'one', 'gpt-4o', 60, 6, 7),
    (2, NOW - 86400, 2, 'two', 'gpt-4o', 30, 1, 2);
