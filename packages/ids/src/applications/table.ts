/** Applications whose transactions rules are matched against. */

import type { Application } from "./application.ts";
import { DNS_APPLICATION } from "./dns/dns.ts";
import { SSH_APPLICATION } from "./ssh/ssh.ts";
import { TLS_APPLICATION } from "./tls/tls.ts";

/** One row each, by name; the first that recognizes a flow has it. */
export const APPLICATIONS: readonly Application[] = [TLS_APPLICATION, SSH_APPLICATION, DNS_APPLICATION];
