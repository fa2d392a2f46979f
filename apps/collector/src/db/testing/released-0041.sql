-- A database of the release whose last migration is 0041-bundles, as that build made it, with a license and an address conflict.
PRAGMA foreign_keys = OFF;
CREATE TABLE "kysely_migration" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null);
CREATE TABLE "kysely_migration_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null);
CREATE TABLE "tenants" ("id" text primary key, "name" text not null, "created_at" text not null, "last_event_seq" bigint default 0 not null, "event_bytes" bigint default 0 not null, "webhooks_revision" integer default 0 not null, "login_domain" text);
CREATE TABLE "sites" ("id" text primary key, "tenant_id" text not null references "tenants" ("id"), "name" text not null, "probe_configuration" text not null, "configuration_revision" integer default 0 not null, "created_at" text not null, "scan_networks" text default '[]' not null, constraint "sites_name" unique ("tenant_id", "name"));
CREATE TABLE "users" ("id" text primary key, "tenant_id" text not null references "tenants" ("id"), "username" text not null unique, "password_hash" text not null, "role" text not null, "created_at" text not null, "tokens_valid_from" text not null, "email" text, "last_login_at" text, "username_key" text default '' not null);
CREATE TABLE "revoked_tokens" ("jti" text primary key, "tenant_id" text not null, "expires_at" text not null);
CREATE TABLE "enrollment_tokens" ("id" text primary key, "tenant_id" text not null, "site_id" text not null references "sites" ("id"), "secret_sha256" text not null unique, "created_by" text not null, "created_at" text not null, "expires_at" text not null, "used_at" text, "probe_id" text);
CREATE TABLE "probes" ("id" text primary key, "tenant_id" text not null, "site_id" text not null references "sites" ("id"), "name" text not null, "enrolled_at" text not null, "revoked_at" text, "certificate_serial" text not null, "certificate_expires_at" text not null, "version" text not null, "state" text not null, "silent_since" text, "last_heard_at" text, "run_id" text, "health" text, "refused" text default '{}' not null, "public_key" text, "previous_public_key" text, "settings" text default '{}' not null, "configuration_revision" integer default 0 not null, "clock_offset_ms" bigint);
CREATE TABLE "probe_queues" ("probe_id" text not null, "queue_id" text not null, "tenant_id" text not null, "watermark" bigint not null, "updated_at" text not null, "created_at" text default '' not null, constraint "probe_queues_key" primary key ("probe_id", "queue_id"));
CREATE TABLE "devices" ("id" text primary key, "tenant_id" text not null, "site_id" text not null references "sites" ("id"), "ip" text not null, "ip_key" text not null, "mac" text not null, "hostname" text not null, "vendor" text not null, "os_guess" text not null, "device_type" text not null, "is_online" integer not null, "presence_state" text not null, "first_seen" text not null, "last_seen" text not null, "open_ports" text not null, "tags" text not null, "locked_fields" text not null, "mac_count" integer default 1 not null, "verdicts" text default '{}' not null, "hostname_key" text default '' not null);
CREATE INDEX "devices_site" on "devices" ("site_id", "presence_state");
CREATE TABLE "device_counts" ("tenant_id" text not null, "site_id" text not null, "is_online" integer not null, "devices" integer not null, constraint "device_counts_key" primary key ("tenant_id", "site_id", "is_online"));
CREATE TRIGGER devices_counted_in after insert on devices begin 
    insert into device_counts (tenant_id, site_id, is_online, devices) values (new.tenant_id, new.site_id, new.is_online, 1)
    on conflict (tenant_id, site_id, is_online) do update set devices = devices + excluded.devices; end;
CREATE TRIGGER devices_counted_out after delete on devices begin 
    insert into device_counts (tenant_id, site_id, is_online, devices) values (old.tenant_id, old.site_id, old.is_online, -1)
    on conflict (tenant_id, site_id, is_online) do update set devices = devices + excluded.devices; end;
CREATE TRIGGER devices_counted_anew after update of tenant_id, site_id, is_online on devices when old.tenant_id <> new.tenant_id or old.site_id <> new.site_id or old.is_online <> new.is_online
    begin 
    insert into device_counts (tenant_id, site_id, is_online, devices) values (old.tenant_id, old.site_id, old.is_online, -1)
    on conflict (tenant_id, site_id, is_online) do update set devices = devices + excluded.devices; 
    insert into device_counts (tenant_id, site_id, is_online, devices) values (new.tenant_id, new.site_id, new.is_online, 1)
    on conflict (tenant_id, site_id, is_online) do update set devices = devices + excluded.devices; end;
CREATE TABLE "interfaces" ("device_id" text not null references "devices" ("id") on delete cascade, "tenant_id" text not null, "site_id" text not null, "mac" text not null, "vendor" text not null, "first_seen" text not null, "presence_state" text default 'unknown' not null, constraint "interfaces_key" primary key ("site_id", "mac"));
CREATE INDEX "interfaces_device" on "interfaces" ("device_id");
CREATE TABLE "addresses" ("device_id" text not null references "devices" ("id") on delete cascade, "tenant_id" text not null, "site_id" text not null, "mac" text not null, "ip" text not null, "ip_key" text not null, "first_seen" text not null, "last_seen" text not null, "current" integer not null, constraint "addresses_key" primary key ("device_id", "mac", "ip"));
CREATE INDEX "addresses_ip" on "addresses" ("site_id", "ip");
CREATE TABLE "ports" ("device_id" text not null references "devices" ("id") on delete cascade, "tenant_id" text not null, "port" integer not null, "protocol" text not null, "state" text not null, "service" text not null, "version" text not null, "banner" text not null, "last_scanned" text not null, constraint "ports_key" primary key ("device_id", "port", "protocol"));
CREATE TABLE "device_changes" ("id" text primary key, "device_id" text not null references "devices" ("id") on delete cascade, "tenant_id" text not null, "at" text not null, "field" text not null, "before" text not null, "after" text not null, "source" text not null);
CREATE INDEX "device_changes_device" on "device_changes" ("device_id", "id");
CREATE TABLE "evidence" ("device_id" text not null references "devices" ("id") on delete cascade, "tenant_id" text not null, "field" text not null, "value" text not null, "source" text not null, "confidence" real not null, "seen_at" text not null, constraint "evidence_key" primary key ("device_id", "field", "source", "value"));
CREATE TABLE "events" ("tenant_id" text not null, "seq" bigint not null, "id" text not null, "type" text not null, "site_id" text, "probe_id" text, "device_id" text, "queue_id" text, "probe_seq" bigint, "occurred_at" text not null, "received_at" text not null, "data" text not null, constraint "events_key" primary key ("tenant_id", "seq"));
CREATE TABLE "rejected_events" ("probe_id" text not null, "queue_id" text not null, "probe_seq" bigint not null, "tenant_id" text not null, "received_at" text not null, "reason" text not null, "payload" text not null, constraint "rejected_events_key" primary key ("probe_id", "queue_id", "probe_seq"));
CREATE TABLE "webhooks" ("id" text primary key, "tenant_id" text not null references "tenants" ("id"), "url" text not null, "events" text not null, "active" integer not null, "status" text not null, "failing_since" text, "secret_sealed" text not null, "secret_hint" text not null, "previous_secret_sealed" text, "previous_secret_until" text, "created_at" text not null, "last_delivery_at" text, "worker_id" text);
CREATE INDEX "webhooks_tenant" on "webhooks" ("tenant_id", "id");
CREATE INDEX "webhooks_worker" on "webhooks" ("worker_id");
CREATE TABLE "webhook_deliveries" ("webhook_id" text not null, "id" text not null, "tenant_id" text not null, "event_id" text not null, "event" text not null, "event_seq" bigint not null, "lane" text, "status" text not null, "attempt" integer not null, "requested_at" text, "status_code" integer, "response_time_ms" integer, "error" text, "response_excerpt" text, "attempts" text not null, "created_at" text not null, "retry_at" text, constraint "webhook_deliveries_key" primary key ("webhook_id", "id"));
CREATE INDEX "webhook_deliveries_lanes" on "webhook_deliveries" ("webhook_id", "lane", "event_seq") where "lane" is not null;
CREATE INDEX "webhook_deliveries_retries" on "webhook_deliveries" ("webhook_id", "retry_at") where "retry_at" is not null;
CREATE TABLE "delivery_workers" ("id" text primary key, "beats" bigint not null);
CREATE TABLE "webhook_notices" ("id" text primary key, "tenant_id" text not null, "webhook_id" text not null, "kind" text not null, "detail" text not null, "status" text not null, "attempt" integer not null, "next_attempt_at" text, "error" text, "created_at" text not null);
CREATE INDEX "webhook_notices_due" on "webhook_notices" ("status", "next_attempt_at");
CREATE INDEX "users_tenant" on "users" ("tenant_id", "id");
CREATE TABLE "api_keys" ("id" text primary key, "tenant_id" text not null, "user_id" text not null references "users" ("id") on delete cascade, "name" text not null, "secret_sha256" text not null unique, "hint" text not null, "scopes" text not null, "created_at" text not null, "expires_at" text, "last_used_at" text);
CREATE INDEX "api_keys_tenant" on "api_keys" ("tenant_id", "id");
CREATE INDEX "api_keys_user" on "api_keys" ("user_id", "id");
CREATE TABLE "stream_tickets" ("secret_sha256" text primary key, "tenant_id" text not null, "user_id" text not null references "users" ("id") on delete cascade, "key_id" text, "token_id" text not null, "token_issued_at" text not null, "token_expires_at" text, "expires_at" text not null);
CREATE TABLE "login_failures" ("username_sha256" text not null, "address" text not null, "failed_at" text not null, "updated_at" text not null, constraint "login_failures_key" primary key ("username_sha256", "address"));
CREATE INDEX "login_failures_age" on "login_failures" ("updated_at");
CREATE TABLE "audit" ("id" text primary key, "tenant_id" text not null, "at" text not null, "actor_type" text not null, "actor_id" text not null, "actor_name" text not null, "address" text not null, "action" text not null, "target_type" text not null, "target_id" text not null, "before" text, "after" text, "window_key" text, "times" integer default 1 not null, "last_at" text);
CREATE INDEX "audit_order" on "audit" ("tenant_id", "id");
CREATE INDEX "audit_target" on "audit" ("tenant_id", "target_id", "id");
CREATE INDEX "devices_ip_key" on "devices" ("tenant_id", "ip_key", "id", "site_id");
CREATE INDEX "devices_vendor" on "devices" ("tenant_id", "vendor", "id", "site_id");
CREATE INDEX "devices_last_seen" on "devices" ("tenant_id", "last_seen", "id", "site_id");
CREATE INDEX "devices_filters" on "devices" ("tenant_id", "device_type", "presence_state", "is_online", "tags", "vendor", "os_guess", "site_id", "id");
CREATE TABLE "idempotency_keys" ("tenant_id" text not null, "caller" text not null, "key_sha256" text not null, "fingerprint" text not null, "run_id" text not null unique, "leased_until" text not null, "expires_at" text not null, "answer" text, constraint "idempotency_keys_key" primary key ("tenant_id", "caller", "key_sha256"));
CREATE INDEX "idempotency_keys_end" on "idempotency_keys" ("expires_at");
CREATE TABLE "scans" ("id" text primary key, "tenant_id" text not null, "site_id" text not null references "sites" ("id") on delete cascade, "probe_id" text not null, "target" text not null, "target_first" text not null, "target_last" text not null, "profile" text not null, "status" text not null, "progress" double precision not null, "requested_by" text not null, "created_at" text not null, "started_at" text, "finished_at" text, "hosts_total" integer not null, "hosts_up" integer not null, "ports_open" integer not null, "error" text, "presumed" integer not null, "command_id" text not null unique, "cancel_command_id" text, "run_id" text, "answer_by" text not null, "heard_at" text not null, "orphaned_at" text, "remarks" text default '[]' not null, "stored_rows" integer default 0 not null);
CREATE INDEX "scans_order" on "scans" ("tenant_id", "id");
CREATE INDEX "scans_status" on "scans" ("status", "site_id");
CREATE INDEX "scans_probe" on "scans" ("probe_id", "status");
CREATE INDEX "scans_finished" on "scans" ("finished_at");
CREATE TABLE "scan_hosts" ("scan_id" text not null references "scans" ("id") on delete cascade, "tenant_id" text not null, "ip" text not null, "ip_key" text not null, "mac" text not null, "seen_at" text not null, "port_counts" text, constraint "scan_hosts_key" primary key ("scan_id", "ip_key"));
CREATE TABLE "scan_ports" ("scan_id" text not null references "scans" ("id") on delete cascade, "tenant_id" text not null, "ip_key" text not null, "port" integer not null, "protocol" text not null, "state" text not null, "service" text not null, "version" text not null, "banner" text not null, constraint "scan_ports_key" primary key ("scan_id", "ip_key", "port", "protocol"));
CREATE TABLE "alerts" ("id" text primary key, "tenant_id" text not null, "site_id" text, "device_id" text, "device_ip" text not null, "probe_id" text, "source" text not null, "type" text not null, "subject" text not null, "open_key" text unique, "severity" text not null, "severity_rank" integer not null, "title" text not null, "description" text not null, "status" text not null, "count" integer not null, "first_seen" text not null, "last_seen" text not null, "evidence" text not null, "mitre_techniques" text not null, "notified" integer not null, "quiet_at" text, "acknowledged_by" text, "acknowledged_at" text, "resolved_by" text, "resolved_at" text, "live_at" text);
CREATE INDEX "alerts_last_seen" on "alerts" ("tenant_id", "last_seen", "id");
CREATE INDEX "alerts_first_seen" on "alerts" ("tenant_id", "first_seen", "id");
CREATE INDEX "alerts_severity_rank" on "alerts" ("tenant_id", "severity_rank", "id");
CREATE INDEX "alerts_count" on "alerts" ("tenant_id", "count", "id");
CREATE INDEX "alerts_storm" on "alerts" ("tenant_id", "type", "first_seen");
CREATE INDEX "alerts_device" on "alerts" ("tenant_id", "device_id", "last_seen");
CREATE INDEX "alerts_status" on "alerts" ("tenant_id", "status", "last_seen");
CREATE INDEX "alerts_quiet_at" on "alerts" ("quiet_at");
CREATE INDEX "alerts_resolved_at" on "alerts" ("resolved_at");
CREATE TABLE "alert_mutes" ("id" text primary key, "tenant_id" text not null, "source" text, "type" text, "subject" text, "site_id" text, "reason" text not null, "created_by" text not null, "created_at" text not null, "expires_at" text not null);
CREATE INDEX "alert_mutes_tenant" on "alert_mutes" ("tenant_id", "id");
CREATE TABLE "backups" ("id" text primary key, "tenant_id" text not null, "status" text not null, "running_key" text unique, "trigger" text not null, "requested_by" text not null, "created_at" text not null, "heard_at" text not null, "finished_at" text, "engine" text not null, "version" text not null, "recipients" text not null, "file_name" text not null, "size_bytes" bigint, "sha256" text, "table_count" bigint, "row_count" bigint, "error" text, "verify_status" text, "verify_method" text, "verify_error" text, "verified_at" text);
CREATE INDEX "backups_order" on "backups" ("tenant_id", "id");
CREATE TABLE "licenses" ("tenant_id" text primary key references "tenants" ("id"), "license" text not null, "told" text not null, "uploaded_at" text not null, "uploaded_by" text not null);
CREATE TABLE "credentials" ("id" text primary key, "tenant_id" text not null references "tenants" ("id"), "name" text not null, "type" text not null, "settings" text not null, "networks" text not null, "secret_sealed" text not null, "created_at" text not null, "updated_at" text not null, constraint "credentials_name" unique ("tenant_id", "name"));
CREATE TABLE "credential_assignments" ("credential_id" text not null references "credentials" ("id") on delete cascade, "tenant_id" text not null, "site_id" text references "sites" ("id") on delete cascade, "probe_id" text references "probes" ("id") on delete cascade);
CREATE INDEX "credential_assignments_credential_id" on "credential_assignments" ("credential_id");
CREATE INDEX "credential_assignments_site_id" on "credential_assignments" ("site_id");
CREATE INDEX "credential_assignments_probe_id" on "credential_assignments" ("probe_id");
CREATE TABLE "config_versions" ("id" text primary key, "tenant_id" text not null references "tenants" ("id"), "device_id" text not null, "version" integer not null, "content_sealed" text not null, "size_bytes" integer not null, "lines" integer not null, "lines_added" integer not null, "lines_removed" integer not null, "changed_by" text not null, "comment" text not null, "captured_at" text not null, "created_at" text not null, constraint "config_versions_version" unique ("device_id", "version"));
CREATE INDEX "config_versions_age" on "config_versions" ("created_at");
CREATE INDEX "config_versions_tenant" on "config_versions" ("tenant_id", "device_id", "version");
CREATE TABLE "probe_health" ("probe_id" text not null references "probes" ("id") on delete cascade, "at" text not null, "tenant_id" text not null, "health" text not null, constraint "probe_health_key" primary key ("probe_id", "at"));
CREATE INDEX "probe_health_age" on "probe_health" ("at");
CREATE TABLE "ipam_prefixes" ("id" text primary key, "tenant_id" text not null, "site_id" text references "sites" ("id"), "scope" text not null, "prefix" text not null, "first_key" text not null, "last_key" text not null, "sort_key" text not null, "length" integer not null, "family" integer not null, "vlan_id" integer, "name" text not null, "description" text not null, "status" text not null, "created_at" text not null, "updated_at" text not null, constraint "ipam_prefixes_one" unique ("tenant_id", "prefix", "scope"));
CREATE INDEX "ipam_prefixes_order" on "ipam_prefixes" ("tenant_id", "sort_key", "id");
CREATE TABLE "ipam_addresses" ("id" text primary key, "tenant_id" text not null, "site_id" text references "sites" ("id"), "scope" text not null, "ip" text not null, "ip_key" text not null, "family" integer not null, "status" text not null, "mac" text, "hostname" text not null, "description" text not null, "created_at" text not null, "updated_at" text not null, constraint "ipam_addresses_one" unique ("tenant_id", "ip_key", "scope"));
CREATE INDEX "ipam_addresses_order" on "ipam_addresses" ("tenant_id", "ip_key", "id");
CREATE INDEX "addresses_number" on "addresses" ("tenant_id", "ip_key", "site_id", "current");
CREATE TABLE "device_keys" ("device_id" text not null references "devices" ("id") on delete cascade, "tenant_id" text not null, "site_id" text not null, "key" text not null, "source" text not null, "first_seen" text not null, constraint "device_keys_key" primary key ("site_id", "key", "device_id"));
CREATE INDEX "device_keys_device" on "device_keys" ("device_id");
CREATE TABLE "device_merges" ("id" text primary key, "tenant_id" text not null, "site_id" text not null, "kept_id" text not null, "merged_id" text not null, "at" text not null, "by_type" text not null, "by_id" text not null, "by_name" text not null, "reasons" text not null, "snapshot" text, "undone_at" text);
CREATE INDEX "device_merges_kept_id" on "device_merges" ("tenant_id", "kept_id");
CREATE INDEX "device_merges_merged_id" on "device_merges" ("tenant_id", "merged_id");
CREATE INDEX "rejected_events_age" on "rejected_events" ("tenant_id", "received_at", "probe_seq");
CREATE TABLE "leases" ("name" text primary key, "holder" text not null, "beats" bigint not null);
CREATE TABLE "kept_secrets" ("id" text primary key, "content_sealed" text not null);
CREATE TABLE "request_times" ("caller" text primary key, "times" text not null, "updated_at" bigint not null);
CREATE TABLE "neighbors" ("probe_id" text not null references "probes" ("id") on delete cascade, "key" text not null, "tenant_id" text not null, "site_id" text not null references "sites" ("id") on delete cascade, "data" text not null, "first_seen" text not null, "last_seen" text not null, "current" integer not null, constraint "neighbors_key" primary key ("probe_id", "key"));
CREATE INDEX "neighbors_site" on "neighbors" ("tenant_id", "site_id", "current", "last_seen");
CREATE TABLE "backup_settings" ("id" text primary key, "schedule" text, "keep" integer, "recipients" text, "scheduled_at" text, "updated_at" text not null, "updated_by" text not null);
CREATE TABLE "ipam_conflicts" ("tenant_id" text not null, "site_id" text not null references "sites" ("id") on delete cascade, "ip_key" text not null, "kinds" text not null, "told" integer not null, constraint "ipam_conflicts_key" primary key ("tenant_id", "site_id", "ip_key"));
CREATE TABLE "switch_reports" ("probe_id" text not null references "probes" ("id") on delete cascade, "ip" text not null, "tenant_id" text not null, "site_id" text not null references "sites" ("id") on delete cascade, "data" text not null, "first_seen" text not null, "last_seen" text not null, "current" integer not null, constraint "switch_reports_key" primary key ("probe_id", "ip"));
CREATE INDEX "switch_reports_site" on "switch_reports" ("tenant_id", "site_id", "current", "last_seen");
CREATE UNIQUE INDEX "audit_window" on "audit" ("window_key");
CREATE INDEX "audit_kept" on "audit" ("tenant_id", "window_key", "id");
CREATE TABLE "confirmed_tokens" ("jti" text primary key, "tenant_id" text not null, "confirmed_until" text not null);
CREATE INDEX "probe_queues_age" on "probe_queues" ("probe_id", "updated_at");
CREATE INDEX "alerts_live" on "alerts" ("tenant_id", "type", "live_at");
CREATE INDEX "alerts_open_of_type" on "alerts" ("site_id", "type", "status");
CREATE TABLE "site_discoveries" ("site_id" text primary key references "sites" ("id") on delete cascade, "tenant_id" text not null, "window_at" text not null, "found" integer not null, "storm" integer not null, "storm_since" text, "storm_until" text);
CREATE INDEX "ports_open" on "ports" ("tenant_id", "port", "device_id") where "state" = 'open';
CREATE UNIQUE INDEX "tenants_login_domain" on "tenants" ("login_domain");
CREATE UNIQUE INDEX "users_name_key" on "users" ("username_key");
CREATE TABLE "device_texts" ("number" integer primary key, "tenant_id" text not null, "device_id" text not null unique references "devices" ("id") on delete cascade on update cascade, "hostname" text not null, "ips" text not null, "macs" text not null);
CREATE TABLE search_tenants (number integer primary key, tenant_id text not null unique);
CREATE VIRTUAL TABLE search_index using fts5(text, content='', columnsize=0, detail='none', tokenize='trigram case_sensitive 1');
CREATE TRIGGER device_texts_in after insert on device_texts begin insert into search_index (rowid, text) select new.number * 4 + 0, new.hostname where length(new.hostname) > 2; insert into search_index (rowid, text) select new.number * 4 + 1, new.ips where length(new.ips) > 2; insert into search_index (rowid, text) select new.number * 4 + 2, replace(new.macs, ':', '') where length(replace(new.macs, ':', '')) > 2; end;
CREATE TRIGGER device_texts_out after delete on device_texts begin insert into search_index (search_index, rowid, text) select 'delete', old.number * 4 + 0, old.hostname where length(old.hostname) > 2; insert into search_index (search_index, rowid, text) select 'delete', old.number * 4 + 1, old.ips where length(old.ips) > 2; insert into search_index (search_index, rowid, text) select 'delete', old.number * 4 + 2, replace(old.macs, ':', '') where length(replace(old.macs, ':', '')) > 2; end;
CREATE TRIGGER device_texts_hostname after update of hostname on device_texts when old.hostname <> new.hostname
      begin insert into search_index (search_index, rowid, text) select 'delete', old.number * 4 + 0, old.hostname where length(old.hostname) > 2; insert into search_index (rowid, text) select new.number * 4 + 0, new.hostname where length(new.hostname) > 2; end;
CREATE TRIGGER device_texts_ips after update of ips on device_texts when old.ips <> new.ips
      begin insert into search_index (search_index, rowid, text) select 'delete', old.number * 4 + 1, old.ips where length(old.ips) > 2; insert into search_index (rowid, text) select new.number * 4 + 1, new.ips where length(new.ips) > 2; end;
CREATE TRIGGER device_texts_macs after update of macs on device_texts when old.macs <> new.macs
      begin insert into search_index (search_index, rowid, text) select 'delete', old.number * 4 + 2, replace(old.macs, ':', '') where length(replace(old.macs, ':', '')) > 2; insert into search_index (rowid, text) select new.number * 4 + 2, replace(new.macs, ':', '') where length(replace(new.macs, ':', '')) > 2; end;
CREATE TRIGGER devices_texts_in after insert on devices begin 
    insert into search_tenants (tenant_id) select distinct tenant_id from (select new.tenant_id as tenant_id) as rows
      where not exists (select 1 from search_tenants as known where known.tenant_id = rows.tenant_id); 
    insert into device_texts (number, tenant_id, device_id, hostname, ips, macs)
      select coalesce((select max(number) from device_texts where number >= tenant.number << 32 and number < (tenant.number + 1) << 32),
        tenant.number << 32) + 1, new.tenant_id, new.id, lower(new.hostname), coalesce((select group_concat(line, char(10)) from (select distinct lower(ip) as line from addresses where device_id = new.id
    order by 1) as lines), ''), coalesce((select group_concat(line, char(10)) from (select replace(lower(mac), ':', '') || char(10) || lower(mac) as line
    from interfaces where device_id = new.id order by 1) as lines), '')
      from search_tenants as tenant where tenant.tenant_id = new.tenant_id; end;
CREATE TRIGGER devices_texts_renamed after update of hostname on devices when old.hostname <> new.hostname begin
      update device_texts set hostname = lower(new.hostname) where device_id = new.id; end;
CREATE TRIGGER devices_texts_moved after update of tenant_id on devices when old.tenant_id <> new.tenant_id begin
      delete from device_texts where device_id = new.id; 
    insert into search_tenants (tenant_id) select distinct tenant_id from (select new.tenant_id as tenant_id) as rows
      where not exists (select 1 from search_tenants as known where known.tenant_id = rows.tenant_id); 
    insert into device_texts (number, tenant_id, device_id, hostname, ips, macs)
      select coalesce((select max(number) from device_texts where number >= tenant.number << 32 and number < (tenant.number + 1) << 32),
        tenant.number << 32) + 1, new.tenant_id, new.id, lower(new.hostname), coalesce((select group_concat(line, char(10)) from (select distinct lower(ip) as line from addresses where device_id = new.id
    order by 1) as lines), ''), coalesce((select group_concat(line, char(10)) from (select replace(lower(mac), ':', '') || char(10) || lower(mac) as line
    from interfaces where device_id = new.id order by 1) as lines), '')
      from search_tenants as tenant where tenant.tenant_id = new.tenant_id; end;
CREATE TRIGGER addresses_texts_in after insert on addresses begin update device_texts set ips = coalesce((select group_concat(line, char(10)) from (select distinct lower(ip) as line from addresses where device_id = new.device_id
    order by 1) as lines), '') where device_id = new.device_id; end;
CREATE TRIGGER addresses_texts_out after delete on addresses begin update device_texts set ips = coalesce((select group_concat(line, char(10)) from (select distinct lower(ip) as line from addresses where device_id = old.device_id
    order by 1) as lines), '') where device_id = old.device_id; end;
CREATE TRIGGER addresses_texts_changed after update of ip, device_id on addresses
          when old.ip <> new.ip or old.device_id <> new.device_id begin update device_texts set ips = coalesce((select group_concat(line, char(10)) from (select distinct lower(ip) as line from addresses where device_id = old.device_id
    order by 1) as lines), '') where device_id = old.device_id; update device_texts set ips = coalesce((select group_concat(line, char(10)) from (select distinct lower(ip) as line from addresses where device_id = new.device_id
    order by 1) as lines), '') where device_id = new.device_id; end;
CREATE TRIGGER interfaces_texts_in after insert on interfaces begin update device_texts set macs = coalesce((select group_concat(line, char(10)) from (select replace(lower(mac), ':', '') || char(10) || lower(mac) as line
    from interfaces where device_id = new.device_id order by 1) as lines), '') where device_id = new.device_id; end;
CREATE TRIGGER interfaces_texts_out after delete on interfaces begin update device_texts set macs = coalesce((select group_concat(line, char(10)) from (select replace(lower(mac), ':', '') || char(10) || lower(mac) as line
    from interfaces where device_id = old.device_id order by 1) as lines), '') where device_id = old.device_id; end;
CREATE TRIGGER interfaces_texts_changed after update of mac, device_id on interfaces
          when old.mac <> new.mac or old.device_id <> new.device_id begin update device_texts set macs = coalesce((select group_concat(line, char(10)) from (select replace(lower(mac), ':', '') || char(10) || lower(mac) as line
    from interfaces where device_id = old.device_id order by 1) as lines), '') where device_id = old.device_id; update device_texts set macs = coalesce((select group_concat(line, char(10)) from (select replace(lower(mac), ':', '') || char(10) || lower(mac) as line
    from interfaces where device_id = new.device_id order by 1) as lines), '') where device_id = new.device_id; end;
CREATE INDEX "devices_hostname_key" on "devices" ("tenant_id", "hostname_key", "id", "site_id");
CREATE TABLE "probe_files" ("probe_id" text not null references "probes" ("id") on delete cascade, "id" text not null, "tenant_id" text not null, "kind" text not null, "size" bigint not null, "sha256" text not null, "received" bigint not null, "state" text not null, "attempts" integer not null, "created_at" text not null, "updated_at" text not null, constraint "probe_files_key" primary key ("probe_id", "id"));
CREATE INDEX "probe_files_age" on "probe_files" ("state", "updated_at");
CREATE TABLE "bundles" ("name" text primary key, "version" integer not null, "manifest" text not null, "signature" text not null, "certificate" text not null, "parts" integer not null, "bytes" integer not null, "published_at" text not null);
CREATE TABLE "bundle_parts" ("name" text not null references "bundles" ("name") on delete cascade, "sha256" text not null, constraint "bundle_parts_key" primary key ("name", "sha256"));
CREATE TABLE "bundle_pieces" ("sha256" text not null, "piece" integer not null, "content" text not null, constraint "bundle_pieces_key" primary key ("sha256", "piece"));
INSERT INTO kysely_migration VALUES ('0001-first', '2026-11-23T02:52:18.273Z');
INSERT INTO kysely_migration VALUES ('0010-webhooks', '2026-11-23T02:52:18.281Z');
INSERT INTO kysely_migration VALUES ('0011-people', '2026-11-23T02:52:18.290Z');
INSERT INTO kysely_migration VALUES ('0012-devices', '2026-11-23T02:52:18.292Z');
INSERT INTO kysely_migration VALUES ('0013-scans', '2026-11-23T02:52:18.303Z');
INSERT INTO kysely_migration VALUES ('0014-alerts', '2026-11-23T02:52:18.307Z');
INSERT INTO kysely_migration VALUES ('0015-backups', '2026-11-23T02:52:18.308Z');
INSERT INTO kysely_migration VALUES ('0016-services', '2026-11-23T02:52:18.325Z');
INSERT INTO kysely_migration VALUES ('0017-ipam', '2026-11-23T02:52:18.327Z');
INSERT INTO kysely_migration VALUES ('0018-identity', '2026-11-23T02:52:18.336Z');
INSERT INTO kysely_migration VALUES ('0018-retention', '2026-11-23T02:52:18.336Z');
INSERT INTO kysely_migration VALUES ('0019-replicas', '2026-11-23T02:52:18.341Z');
INSERT INTO kysely_migration VALUES ('0020-topology', '2026-11-23T02:52:18.342Z');
INSERT INTO kysely_migration VALUES ('0021-backup-settings', '2026-11-23T02:52:18.343Z');
INSERT INTO kysely_migration VALUES ('0022-ipam-conflicts', '2026-11-23T02:52:18.343Z');
INSERT INTO kysely_migration VALUES ('0024-verdicts', '2026-11-23T02:52:18.344Z');
INSERT INTO kysely_migration VALUES ('0025-scan-remarks', '2026-11-23T02:52:18.351Z');
INSERT INTO kysely_migration VALUES ('0026-switches', '2026-11-23T02:52:18.352Z');
INSERT INTO kysely_migration VALUES ('0030-counted-audit', '2026-11-23T02:52:18.357Z');
INSERT INTO kysely_migration VALUES ('0031-confirmed-tokens', '2026-11-23T02:52:18.357Z');
INSERT INTO kysely_migration VALUES ('0032-hostile-probes', '2026-11-23T02:52:18.363Z');
INSERT INTO kysely_migration VALUES ('0033-open-ports', '2026-11-23T02:52:18.364Z');
INSERT INTO kysely_migration VALUES ('0034-user-names', '2026-11-23T02:52:18.367Z');
INSERT INTO kysely_migration VALUES ('0039-device-texts', '2026-11-23T02:52:18.372Z');
INSERT INTO kysely_migration VALUES ('0039-hostname-keys', '2026-11-23T02:52:18.374Z');
INSERT INTO kysely_migration VALUES ('0040-files', '2026-11-23T02:52:18.375Z');
INSERT INTO kysely_migration VALUES ('0041-bundles', '2026-11-23T02:52:18.378Z');
INSERT INTO kysely_migration_lock VALUES ('migration_lock', 0);
INSERT INTO tenants (id, name, created_at) VALUES ('t', 't', '2026-01-01T00:00:00.000Z');
INSERT INTO sites (id, tenant_id, name, created_at, probe_configuration) VALUES ('s', 't', 's', '2026-01-01T00:00:00.000Z', '{}');
INSERT INTO licenses (tenant_id, license, told, uploaded_at, uploaded_by) VALUES ('t', 'x', 'expired', '2026-01-01T00:00:00.000Z', 'u');
INSERT INTO ipam_conflicts (tenant_id, site_id, ip_key, kinds, told) VALUES ('t', 's', '40a000001', 'mac', 1);
