import { EVENT_TEXTS } from "./events.ts";
import { SECURITY_EVENT_TEXTS } from "./security-events.ts";
import type { FieldTexts } from "./texts.ts";
import { UPLINK_TEXTS } from "./uplink.ts";

/** What the fields mean of every schema that documents show and that probes use too. */
export const FIELD_TEXTS: readonly FieldTexts[] = [...EVENT_TEXTS, ...SECURITY_EVENT_TEXTS, ...UPLINK_TEXTS];
