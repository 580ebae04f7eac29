-- The tables of new-api as gorm creates them in SQLite, without those that an import does not read.
CREATE TABLE `users` (`id` integer PRIMARY KEY AUTOINCREMENT,`username` text,`password` text NOT NULL,`display_name` text,
    `role` int DEFAULT 1,`status` int DEFAULT 1,`email` text,`github_id` text,`discord_id` text,`oidc_id` text,
    `wechat_id` text,`telegram_id` text,`access_token` char(32),`quota` int DEFAULT 0,`used_quota` int DEFAULT 0,
    `request_count` int DEFAULT 0,`group` varchar(64) DEFAULT 'default',`aff_code` varchar(32),`aff_count` int DEFAULT 0,
    `aff_quota` int DEFAULT 0,`aff_history` int DEFAULT 0,`inviter_id` int,`deleted_at` datetime,`linux_do_id` text,
    `setting` text,`remark` varchar(255),`stripe_customer` varchar(64),`created_at` bigint,`last_login_at` bigint DEFAULT 0,
    CONSTRAINT `uni_users_username` UNIQUE (`username`));
CREATE UNIQUE INDEX `idx_users_access_token` ON `users`(`access_token`);
CREATE TABLE `tokens` (`id` integer PRIMARY KEY AUTOINCREMENT,`user_id` integer,`key` varchar(128),`status` integer DEFAULT 1,
    `name` text,`created_time` bigint,`accessed_time` bigint,`expired_time` bigint DEFAULT -1,`remain_quota` integer DEFAULT 0,
    `unlimited_quota` numeric,`model_limits_enabled` numeric,`model_limits` text,`allow_ips` text DEFAULT '',
    `used_quota` integer DEFAULT 0,`group` text DEFAULT '',`cross_group_retry` numeric,`deleted_at` datetime);
CREATE UNIQUE INDEX `idx_tokens_key` ON `tokens`(`key`);
CREATE TABLE `options` (`key` text,`value` text,PRIMARY KEY (`key`));
CREATE TABLE `logs` (`id` integer PRIMARY KEY AUTOINCREMENT,`user_id` integer,`created_at` bigint,`type` integer,`content` text,
    `username` text DEFAULT '',`token_name` text DEFAULT '',`model_name` text DEFAULT '',`quota` integer DEFAULT 0,
    `prompt_tokens` integer DEFAULT 0,`completion_tokens` integer DEFAULT 0,`use_time` integer DEFAULT 0,`is_stream` numeric,
    `channel_id` integer,`token_id` integer DEFAULT 0,`group` text,`ip` text DEFAULT '',`other` text);
CREATE TABLE `two_fas` (`id` integer PRIMARY KEY AUTOINCREMENT,`user_id` integer NOT NULL,`secret` varchar(255) NOT NULL);
CREATE TABLE `channels` (`id` integer PRIMARY KEY AUTOINCREMENT,`key` text NOT NULL,`name` text);
