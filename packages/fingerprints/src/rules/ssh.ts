import type { Rule } from "./rule.ts";

/** What stands behind `SSH-2.0-`. @see RFC 4253 section 4.2 */
export const SSH_RULES: readonly Rule[] = [
  {
    pattern: /^OpenSSH_(\d+\.\d+(?:\.\d+)?)(p\d+)/,
    says: { product: "OpenSSH", vendor: "OpenBSD", version: "$1$2", cpe: "a:openbsd:openssh:$1:$2" },
    examples: [
      ["OpenSSH_9.2p1 Debian-2+deb12u3", { product: "OpenSSH", vendor: "OpenBSD", version: "9.2p1", cpe: "cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*" }],
      ["OpenSSH_8.9p1 Ubuntu-3ubuntu0.10", { product: "OpenSSH", vendor: "OpenBSD", version: "8.9p1", cpe: "cpe:2.3:a:openbsd:openssh:8.9:p1:*:*:*:*:*:*" }],
    ],
  },
  {
    pattern: /^OpenSSH_(\d[\w.]*)/,
    says: { product: "OpenSSH", vendor: "OpenBSD", version: "$1", cpe: "a:openbsd:openssh:$1" },
    examples: [["OpenSSH_9.9", { product: "OpenSSH", vendor: "OpenBSD", version: "9.9", cpe: "cpe:2.3:a:openbsd:openssh:9.9:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^OpenSSH_for_Windows_(\d[\w.]*)/,
    says: { product: "OpenSSH", vendor: "OpenBSD", version: "$1", edition: "for Windows", cpe: "a:openbsd:openssh:$1", os: "Windows", os_cpe: "o:microsoft:windows" },
    examples: [["OpenSSH_for_Windows_8.1", {
      product: "OpenSSH", vendor: "OpenBSD", version: "8.1", edition: "for Windows", cpe: "cpe:2.3:a:openbsd:openssh:8.1:*:*:*:*:*:*:*",
      os: "Windows", os_cpe: "cpe:2.3:o:microsoft:windows:*:*:*:*:*:*:*:*",
    }]],
  },
  {
    pattern: /^dropbear(?:_(\d[\w.]*))?/i,
    says: { product: "Dropbear sshd", vendor: "Dropbear SSH Project", version: "$1", cpe: "a:dropbear_ssh_project:dropbear_ssh:$1" },
    examples: [
      ["dropbear_2022.83", { product: "Dropbear sshd", vendor: "Dropbear SSH Project", version: "2022.83", cpe: "cpe:2.3:a:dropbear_ssh_project:dropbear_ssh:2022.83:*:*:*:*:*:*:*" }],
      ["dropbear", { product: "Dropbear sshd", vendor: "Dropbear SSH Project", cpe: "cpe:2.3:a:dropbear_ssh_project:dropbear_ssh:*:*:*:*:*:*:*:*" }],
    ],
  },
  {
    pattern: /^libssh[_-](\d[\w.]*)/,
    says: { product: "libssh", vendor: "libssh", version: "$1", cpe: "a:libssh:libssh:$1" },
    examples: [["libssh_0.10.6", { product: "libssh", vendor: "libssh", version: "0.10.6", cpe: "cpe:2.3:a:libssh:libssh:0.10.6:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^Cisco-(\d[\d.]*)/,
    says: { product: "Cisco SSH", vendor: "Cisco", version: "$1", os: "Cisco IOS" },
    examples: [["Cisco-1.25", { product: "Cisco SSH", vendor: "Cisco", version: "1.25", os: "Cisco IOS" }]],
  },
  {
    pattern: /^ROSSSH/,
    says: { product: "MikroTik RouterOS sshd", vendor: "MikroTik", os: "RouterOS", os_cpe: "o:mikrotik:routeros", device_type: "router" },
    examples: [["ROSSSH", { product: "MikroTik RouterOS sshd", vendor: "MikroTik", os: "RouterOS", os_cpe: "cpe:2.3:o:mikrotik:routeros:*:*:*:*:*:*:*:*", device_type: "router" }]],
  },
  {
    pattern: /^mod_sftp(?:\/(\d[\w.]*))?/,
    says: { product: "ProFTPD mod_sftp", vendor: "ProFTPD", version: "$1" },
    examples: [["mod_sftp/0.9.9", { product: "ProFTPD mod_sftp", vendor: "ProFTPD", version: "0.9.9" }]],
  },
  {
    pattern: /^Go$/,
    says: { product: "Golang x/crypto/ssh server", vendor: "Go" },
    examples: [["Go", { product: "Golang x/crypto/ssh server", vendor: "Go" }]],
  },
  {
    pattern: /^AsyncSSH_(\d[\w.]*)/,
    says: { product: "AsyncSSH", vendor: "AsyncSSH", version: "$1", cpe: "a:asyncssh_project:asyncssh:$1" },
    examples: [["AsyncSSH_2.14.1", { product: "AsyncSSH", vendor: "AsyncSSH", version: "2.14.1", cpe: "cpe:2.3:a:asyncssh_project:asyncssh:2.14.1:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^paramiko_(\d[\w.]*)/,
    says: { product: "Paramiko", vendor: "Paramiko", version: "$1", cpe: "a:paramiko:paramiko:$1" },
    examples: [["paramiko_3.4.0", { product: "Paramiko", vendor: "Paramiko", version: "3.4.0", cpe: "cpe:2.3:a:paramiko:paramiko:3.4.0:*:*:*:*:*:*:*" }]],
  },
];
