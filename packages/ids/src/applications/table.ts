/** Applications whose transactions rules are matched against. */

import type { Application } from "./application.ts";
import { DNS_APPLICATION } from "./dns/dns.ts";

/** One row each, by name; the first that recognizes a flow has it. */
export const APPLICATIONS: readonly Application[] = [DNS_APPLICATION];
