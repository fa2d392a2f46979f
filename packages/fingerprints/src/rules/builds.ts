import type { Rule } from "./rule.ts";

const DEBIAN_KIN = "Debian|Ubuntu|Raspbian";

/**
 * Who built a daemon, and which build of theirs it is, from the texts in which daemons name themselves. `package_version` is written as the
 * distribution's own lists of fixed versions have it: with the epoch of the package, which no daemon names.
 * @see deb-version(7); Debian's packages openssh (epoch 1), bind9 (1), mariadb (1) and samba (2); Red Hat's bind (32)
 */
export const BUILD_RULES: readonly Rule[] = [
  {
    pattern: new RegExp(`^OpenSSH_(\\d+\\.\\d+(?:\\.\\d+)?(?:p\\d+)?) (${DEBIAN_KIN})-([\\w.+~]{1,64})`),
    says: { distribution: "$2", package_version: "1:$1-$3" },
    examples: [
      ["OpenSSH_9.2p1 Debian-2+deb12u3", { distribution: "Debian", package_version: "1:9.2p1-2+deb12u3" }],
      ["OpenSSH_8.9p1 Ubuntu-3ubuntu0.10", { distribution: "Ubuntu", package_version: "1:8.9p1-3ubuntu0.10" }],
      ["OpenSSH_8.4p1 Raspbian-5+deb11u1", { distribution: "Raspbian", package_version: "1:8.4p1-5+deb11u1" }],
    ],
  },
  {
    pattern: /^OpenSSH_\S{1,32} (FreeBSD|NetBSD)(?:_Secure_Shell)?-(\d{8})/,
    says: { distribution: "$1", package_version: "$2" },
    examples: [
      ["OpenSSH_9.3 FreeBSD-20230719", { distribution: "FreeBSD", package_version: "20230719" }],
      ["OpenSSH_8.0 NetBSD_Secure_Shell-20190418-hpn13v14-lpk", { distribution: "NetBSD", package_version: "20190418" }],
    ],
  },
  {
    pattern: /^(?:BIND )?(9\.\d{1,3}\.\d{1,3}(?:-S\d{1,2})?)-([\w.+~]{1,64})-(Debian|Ubuntu)/,
    says: { distribution: "$3", package_version: "1:$1-$2" },
    examples: [
      ["9.18.28-1~deb12u2-Debian", { distribution: "Debian", package_version: "1:9.18.28-1~deb12u2" }],
      ["9.18.28-0ubuntu0.22.04.1-Ubuntu", { distribution: "Ubuntu", package_version: "1:9.18.28-0ubuntu0.22.04.1" }],
    ],
  },
  {
    pattern: /^9\.\d{1,3}\.\d{1,3}-RedHat-(9[\w.~]{1,32}-[\w.~]{1,32})/,
    says: { distribution: "Red Hat", package_version: "32:$1" },
    examples: [["9.11.36-RedHat-9.11.36-16.el8_10.2", { distribution: "Red Hat", package_version: "32:9.11.36-16.el8_10.2" }]],
  },
  {
    pattern: /^(?:5\.5\.5-)?(\d{1,3}\.\d{1,3}\.\d{1,3})-MariaDB-([\d.]{1,8}[+~]deb[\w.+~]{1,32}|[\d.+~]{1,16}(?= from Debian))/,
    says: { distribution: "Debian", package_version: "1:$1-$2" },
    examples: [
      ["5.5.5-10.11.6-MariaDB-0+deb12u1", { distribution: "Debian", package_version: "1:10.11.6-0+deb12u1" }],
      ["11.8.3-MariaDB-1 from Debian", { distribution: "Debian", package_version: "1:11.8.3-1" }],
    ],
  },
  {
    pattern: /^(?:5\.5\.5-)?(\d{1,3}\.\d{1,3}\.\d{1,3})-MariaDB-(\d{1,4}ubuntu[\w.+~]{1,32})/,
    says: { distribution: "Ubuntu", package_version: "1:$1-$2" },
    examples: [["10.6.18-MariaDB-0ubuntu0.22.04.1", { distribution: "Ubuntu", package_version: "1:10.6.18-0ubuntu0.22.04.1" }]],
  },
  {
    pattern: /^(\d{1,3}\.\d{1,3}\.\d{1,3})-(\d{1,4}ubuntu[\w.+~]{1,32})/,
    says: { distribution: "Ubuntu", package_version: "$1-$2" },
    examples: [["8.0.36-0ubuntu0.22.04.1", { distribution: "Ubuntu", package_version: "8.0.36-0ubuntu0.22.04.1" }]],
  },
  {
    pattern: /^dnsmasq-(\d[\w.]{0,15}-[\d.]{1,8}[+~]deb[\w.+~]{1,32})/,
    says: { distribution: "Debian", package_version: "$1" },
    examples: [["dnsmasq-2.90-4~deb12u1", { distribution: "Debian", package_version: "2.90-4~deb12u1" }]],
  },
  {
    pattern: /^Samba \d[\d.]{0,15}-(Debian|Ubuntu)-(\d[\w.+~]{1,32}-[\w.+~]{1,32})/,
    says: { distribution: "$1", package_version: "2:$2" },
    examples: [["Samba 4.22.4-Debian-4.22.4+dfsg-1~deb13u1", { distribution: "Debian", package_version: "2:4.22.4+dfsg-1~deb13u1" }]],
  },
  {
    pattern: /\((Debian|Ubuntu|Raspbian|CentOS|Rocky Linux|AlmaLinux|Red Hat|Fedora|FreeBSD|openSUSE|Amazon Linux|Oracle Linux)\b[^()]{0,32}\)/,
    says: { distribution: "$1" },
    examples: [
      ["Apache/2.4.57 (Rocky Linux) OpenSSL/3.0.7", { distribution: "Rocky Linux" }], ["nginx/1.18.0 (Ubuntu)", { distribution: "Ubuntu" }],
      ["mail.lab.test ESMTP Postfix (Debian/GNU)", { distribution: "Debian" }], ["Apache/2.4.6 (Red Hat Enterprise Linux)", { distribution: "Red Hat" }],
    ],
  },
  {
    pattern: new RegExp(`\\b(${DEBIAN_KIN})\\b`),
    says: { distribution: "$1" },
    confidence: 0.8,
    examples: [
      ["mx ESMTP Exim 4.86_2 Ubuntu Fri, 20 Nov 2026 19:00:00 +0000", { distribution: "Ubuntu" }], ["Samba 4.17.12-Debian", { distribution: "Debian" }],
      ["* OK [CAPABILITY IMAP4] mx Cyrus IMAP 3.6.1-Debian server ready", { distribution: "Debian" }],
    ],
  },
];
