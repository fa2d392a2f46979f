import type { AccessTables } from "./schema/access.ts";
import type { AnomalyTables } from "./schema/anomalies.ts";
import type { BaselineTables } from "./schema/baselines.ts";
import type { CaptureTables } from "./schema/captures.ts";
import type { CveTables } from "./schema/cve.ts";
import type { DnsTables } from "./schema/dns.ts";
import type { EventTables } from "./schema/events.ts";
import type { FeedTables } from "./schema/feeds.ts";
import type { HoneypotTables } from "./schema/honeypots.ts";
import type { IdsTables } from "./schema/ids.ts";
import type { InventoryTables } from "./schema/inventory.ts";
import type { ProbeTables } from "./schema/probes.ts";
import type { ServiceTables } from "./schema/services.ts";
import type { WorkspaceTables } from "./schema/workspace.ts";

/**
 * Rows as they lie in the database. Every moment is ISO 8601 text in UTC, which sorts by time in SQLite and PostgreSQL
 * alike; truths are 0 and 1; lists and objects are JSON text. Every table of a tenant's has `tenant_id`.
 */
export interface Schema extends AccessTables, AnomalyTables, BaselineTables, CaptureTables, CveTables, DnsTables, ProbeTables, InventoryTables, EventTables, FeedTables, HoneypotTables, IdsTables, ServiceTables, WorkspaceTables {}
