-- The tables of new-api as gorm creates them in PostgreSQL, without those that an import does not read. `key` pads
-- with spaces, as in older versions.
CREATE TABLE "users" ("id" bigserial,"username" text,"password" text NOT NULL,"display_name" text,"role" int DEFAULT 1,
    "status" int DEFAULT 1,"email" text,"github_id" text,"discord_id" text,"oidc_id" text,"wechat_id" text,
    "telegram_id" text,"access_token" char(32),"quota" bigint DEFAULT 0,"used_quota" bigint DEFAULT 0,
    "request_count" int DEFAULT 0,"group" varchar(64) DEFAULT 'default',"aff_code" varchar(32),"aff_count" int DEFAULT 0,
    "aff_quota" bigint DEFAULT 0,"aff_history" bigint DEFAULT 0,"inviter_id" int,"deleted_at" timestamptz,"linux_do_id" text,
    "setting" text,"remark" varchar(255),"stripe_customer" varchar(64),"created_at" bigint,"last_login_at" bigint DEFAULT 0,
    PRIMARY KEY ("id"),CONSTRAINT "uni_users_username" UNIQUE ("username"));
CREATE UNIQUE INDEX "idx_users_access_token" ON "users" ("access_token");
CREATE TABLE "tokens" ("id" bigserial,"user_id" bigint,"key" char(128),"status" bigint DEFAULT 1,"name" text,
    "created_time" bigint,"accessed_time" bigint,"expired_time" bigint DEFAULT -1,"remain_quota" bigint DEFAULT 0,
    "unlimited_quota" boolean,"model_limits_enabled" boolean,"model_limits" text,"allow_ips" text DEFAULT '',
    "used_quota" bigint DEFAULT 0,"group" text DEFAULT '',"cross_group_retry" boolean,"deleted_at" timestamptz,
    PRIMARY KEY ("id"));
CREATE UNIQUE INDEX "idx_tokens_key" ON "tokens" ("key");
CREATE TABLE "options" ("key" text,"value" text,PRIMARY KEY ("key"));
CREATE TABLE "logs" ("id" bigserial,"user_id" bigint,"created_at" bigint,"type" bigint,"content" text,
    "username" text DEFAULT '',"token_name" text DEFAULT '',"model_name" text DEFAULT '',"quota" bigint DEFAULT 0,
    "prompt_tokens" bigint DEFAULT 0,"completion_tokens" bigint DEFAULT 0,"use_time" bigint DEFAULT 0,"is_stream" boolean,
    "channel_id" bigint,"token_id" bigint DEFAULT 0,"group" text,"ip" text DEFAULT '',"other" text,PRIMARY KEY ("id"));
CREATE TABLE "two_fas" ("id" bigserial,"user_id" bigint NOT NULL,"secret" varchar(255) NOT NULL,PRIMARY KEY ("id"));
CREATE TABLE "channels" ("id" bigserial,"key" text NOT NULL,"name" text,PRIMARY KEY ("id"));
