import type { DatagramServiceName } from "../names.ts";
import { ntp } from "./ntp.ts";
import type { DatagramService } from "./service.ts";
import { sip } from "./sip.ts";
import { snmp } from "./snmp.ts";
import { tftp } from "./tftp.ts";

/** What serves each name. */
export const DATAGRAM_SERVICES: Readonly<Record<DatagramServiceName, DatagramService>> = { snmp, tftp, ntp, sip };
