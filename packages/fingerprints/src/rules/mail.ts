import type { Rule } from "./rule.ts";

/** A mail server's greeting without its code. @see RFC 5321 section 4.2 */
export const SMTP_RULES: readonly Rule[] = [
  {
    pattern: /^(\S+) ESMTP Postfix(?: \((?!Debian|Ubuntu)(\d[\w.]*)\))?/,
    says: { product: "Postfix smtpd", vendor: "Postfix", version: "$2", cpe: "a:postfix:postfix:$2", hostname: "$1" },
    examples: [["mail.lab.test ESMTP Postfix (Debian/GNU)", { product: "Postfix smtpd", vendor: "Postfix", cpe: "cpe:2.3:a:postfix:postfix:*:*:*:*:*:*:*:*", hostname: "mail.lab.test" }]],
  },
  {
    pattern: /^(\S+) ESMTP Exim (\d[\w.]*)/,
    says: { product: "Exim smtpd", vendor: "Exim", version: "$2", cpe: "a:exim:exim:$2", hostname: "$1" },
    examples: [["mx ESMTP Exim 4.96 Fri, 20 Nov 2026 19:00:00 +0000", { product: "Exim smtpd", vendor: "Exim", version: "4.96", cpe: "cpe:2.3:a:exim:exim:4.96:*:*:*:*:*:*:*", hostname: "mx" }]],
  },
  {
    pattern: /^(\S+) ESMTP Sendmail (\d[\w.]*)/,
    says: { product: "Sendmail", vendor: "Proofpoint", version: "$2", cpe: "a:sendmail:sendmail:$2", hostname: "$1" },
    examples: [["a.b ESMTP Sendmail 8.17.1/8.17.1; Fri", { product: "Sendmail", vendor: "Proofpoint", version: "8.17.1", cpe: "cpe:2.3:a:sendmail:sendmail:8.17.1:*:*:*:*:*:*:*", hostname: "a.b" }]],
  },
  {
    pattern: /^(\S+) ESMTP OpenSMTPD/,
    says: { product: "OpenSMTPD", vendor: "OpenBSD", cpe: "a:openbsd:opensmtpd", hostname: "$1" },
    examples: [["mx ESMTP OpenSMTPD", { product: "OpenSMTPD", vendor: "OpenBSD", cpe: "cpe:2.3:a:openbsd:opensmtpd:*:*:*:*:*:*:*:*", hostname: "mx" }]],
  },
  {
    pattern: /^(\S+) Microsoft ESMTP MAIL Service(?:, Version: (\d[\d.]*))?/,
    says: { product: "Microsoft ESMTP", vendor: "Microsoft", version: "$2", os: "Windows", hostname: "$1" },
    examples: [["ex.corp Microsoft ESMTP MAIL Service ready at", { product: "Microsoft ESMTP", vendor: "Microsoft", os: "Windows", hostname: "ex.corp" }]],
  },
];

/** An IMAP server's greeting, or its answer to ID. @see RFC 3501 section 7.1, RFC 2971 */
export const IMAP_RULES: readonly Rule[] = [
  {
    pattern: /Dovecot(?: \((\w+)\))? ready/i,
    says: { product: "Dovecot imapd", vendor: "Dovecot", cpe: "a:dovecot:dovecot", os: "$1" },
    examples: [
      ["* OK [CAPABILITY IMAP4rev1 SASL-IR ID] Dovecot (Debian) ready.", { product: "Dovecot imapd", vendor: "Dovecot", cpe: "cpe:2.3:a:dovecot:dovecot:*:*:*:*:*:*:*:*", os: "Debian" }],
      ["* OK Dovecot ready.", { product: "Dovecot imapd", vendor: "Dovecot", cpe: "cpe:2.3:a:dovecot:dovecot:*:*:*:*:*:*:*:*" }],
    ],
  },
  {
    pattern: /Cyrus IMAP v?(\d[\w.]*)/,
    says: { product: "Cyrus imapd", vendor: "Cyrus", version: "$1", cpe: "a:cyrus:imap:$1" },
    examples: [["* OK [CAPABILITY IMAP4] mx Cyrus IMAP 3.6.1-Debian server ready", { product: "Cyrus imapd", vendor: "Cyrus", version: "3.6.1", cpe: "cpe:2.3:a:cyrus:imap:3.6.1:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /Courier-IMAP/,
    says: { product: "Courier Imapd", vendor: "Courier" },
    examples: [["* OK [CAPABILITY IMAP4rev1] Courier-IMAP ready.", { product: "Courier Imapd", vendor: "Courier" }]],
  },
  {
    pattern: /The Microsoft Exchange IMAP4 service/,
    says: { product: "Microsoft Exchange imapd", vendor: "Microsoft", os: "Windows" },
    examples: [["* OK The Microsoft Exchange IMAP4 service is ready.", { product: "Microsoft Exchange imapd", vendor: "Microsoft", os: "Windows" }]],
  },
];

/** A POP3 server's greeting. @see RFC 1939 section 4 */
export const POP3_RULES: readonly Rule[] = [
  {
    pattern: /Dovecot(?: \((\w+)\))? ready/i,
    says: { product: "Dovecot pop3d", vendor: "Dovecot", cpe: "a:dovecot:dovecot", os: "$1" },
    examples: [["+OK Dovecot (Debian) ready.", { product: "Dovecot pop3d", vendor: "Dovecot", cpe: "cpe:2.3:a:dovecot:dovecot:*:*:*:*:*:*:*:*", os: "Debian" }]],
  },
  {
    pattern: /Qpopper (?:\(version )?(\d[\w.]*)/,
    says: { product: "Qpopper pop3d", vendor: "Qualcomm", version: "$1", cpe: "a:qualcomm:qpopper:$1" },
    examples: [["+OK Qpopper (version 4.1.0) at a starting.", { product: "Qpopper pop3d", vendor: "Qualcomm", version: "4.1.0", cpe: "cpe:2.3:a:qualcomm:qpopper:4.1.0:*:*:*:*:*:*:*" }]],
  },
];
