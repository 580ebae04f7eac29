-- The tables of new-api as gorm creates them in MySQL, without those that an import does not read.
CREATE TABLE `users` (`id` bigint AUTO_INCREMENT,`username` varchar(191),`password` longtext NOT NULL,
    `display_name` varchar(191),`role` int DEFAULT 1,`status` int DEFAULT 1,`email` varchar(191),`github_id` varchar(191),
    `discord_id` varchar(191),`oidc_id` varchar(191),`wechat_id` varchar(191),`telegram_id` varchar(191),
    `access_token` char(32),`quota` bigint DEFAULT 0,`used_quota` bigint DEFAULT 0,`request_count` int DEFAULT 0,
    `group` varchar(64) DEFAULT 'default',`aff_code` varchar(32),`aff_count` int DEFAULT 0,`aff_quota` bigint DEFAULT 0,
    `aff_history` bigint DEFAULT 0,`inviter_id` int,`deleted_at` datetime(3) NULL,`linux_do_id` varchar(191),`setting` text,
    `remark` varchar(255),`stripe_customer` varchar(64),`created_at` bigint,`last_login_at` bigint DEFAULT 0,
    PRIMARY KEY (`id`),UNIQUE INDEX `idx_users_access_token` (`access_token`),
    CONSTRAINT `uni_users_username` UNIQUE (`username`)) DEFAULT CHARSET=utf8mb4;
CREATE TABLE `tokens` (`id` bigint AUTO_INCREMENT,`user_id` bigint,`key` varchar(128),`status` bigint DEFAULT 1,
    `name` varchar(191),`created_time` bigint,`accessed_time` bigint,`expired_time` bigint DEFAULT -1,
    `remain_quota` bigint DEFAULT 0,`unlimited_quota` boolean,`model_limits_enabled` boolean,`model_limits` text,
    `allow_ips` varchar(191) DEFAULT '',`used_quota` bigint DEFAULT 0,`group` varchar(191) DEFAULT '',
    `cross_group_retry` boolean,`deleted_at` datetime(3) NULL,
    PRIMARY KEY (`id`),INDEX `idx_tokens_user_id` (`user_id`),UNIQUE INDEX `idx_tokens_key` (`key`)) DEFAULT CHARSET=utf8mb4;
CREATE TABLE `options` (`key` varchar(191),`value` longtext,PRIMARY KEY (`key`)) DEFAULT CHARSET=utf8mb4;
CREATE TABLE `logs` (`id` bigint AUTO_INCREMENT,`user_id` bigint,`created_at` bigint,`type` bigint,`content` longtext,
    `username` varchar(191) DEFAULT '',`token_name` varchar(191) DEFAULT '',`model_name` varchar(191) DEFAULT '',
    `quota` bigint DEFAULT 0,`prompt_tokens` bigint DEFAULT 0,`completion_tokens` bigint DEFAULT 0,`use_time` bigint DEFAULT 0,
    `is_stream` boolean,`channel_id` bigint,`token_id` bigint DEFAULT 0,`group` varchar(191),`ip` varchar(191) DEFAULT '',
    `other` longtext,PRIMARY KEY (`id`),INDEX `idx_logs_user_id` (`user_id`)) DEFAULT CHARSET=utf8mb4;
CREATE TABLE `two_fas` (`id` bigint AUTO_INCREMENT,`user_id` bigint NOT NULL,`secret` varchar(255) NOT NULL,PRIMARY KEY (`id`));
CREATE TABLE `channels` (`id` bigint AUTO_INCREMENT,`key` longtext NOT NULL,`name` varchar(191),PRIMARY KEY (`id`));
