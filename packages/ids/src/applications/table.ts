/** Applications whose transactions rules are matched against. */

import type { Application } from "./application.ts";
import { DCERPC_APPLICATION } from "./dcerpc/dcerpc.ts";
import { DNS_APPLICATION } from "./dns/dns.ts";
import { FTP_APPLICATION } from "./ftp/ftp.ts";
import { HTTP_APPLICATION } from "./http/http.ts";
import { KRB5_APPLICATION } from "./krb5/krb5.ts";
import { QUIC_APPLICATION } from "./quic/quic.ts";
import { SMB_APPLICATION } from "./smb/smb.ts";
import { SMTP_APPLICATION } from "./smtp/smtp.ts";
import { SNMP_APPLICATION } from "./snmp/snmp.ts";
import { SSH_APPLICATION } from "./ssh/ssh.ts";
import { TLS_APPLICATION } from "./tls/tls.ts";

/** One row each, by name; the first that recognizes a flow has it. */
export const APPLICATIONS: readonly Application[] = [
  TLS_APPLICATION, SSH_APPLICATION, SMB_APPLICATION, DCERPC_APPLICATION, DNS_APPLICATION, HTTP_APPLICATION, SMTP_APPLICATION, FTP_APPLICATION, QUIC_APPLICATION, SNMP_APPLICATION, KRB5_APPLICATION,
];
