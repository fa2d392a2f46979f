import { describe, expect, test } from "vitest";
import { type AnswerKind, readAnswer } from "../rules/answers.ts";
import type { Claim } from "../rules/claim.ts";
import { readHostSoftware, readSoftware } from "./software.ts";

const claim = (field: Claim["field"], value: string, source: string, confidence = 0.9): Claim => ({ field, value, source, confidence });
const softwareOf = (kind: AnswerKind, text: string) => readSoftware(readAnswer(kind, text));

describe("the software of a service", () => {
  test.each<[AnswerKind, string, object]>([
    ["ssh", "OpenSSH_9.2p1 Debian-2+deb12u3", {
      vendor: "OpenBSD", product: "OpenSSH", version: "9.2p1", distribution: "Debian 12", package_version: "1:9.2p1-2+deb12u3",
      cpe: "cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*",
    }],
    ["dns-version", "9.18.28-0ubuntu0.22.04.1-Ubuntu", { product: "ISC BIND", version: "9.18.28", distribution: "Ubuntu 22.04", package_version: "1:9.18.28-0ubuntu0.22.04.1" }],
    ["http-server", "Apache/2.4.52 (Ubuntu)", {
      vendor: "Apache", product: "Apache httpd", version: "2.4.52", distribution: "Ubuntu", cpe: "cpe:2.3:a:apache:http_server:2.4.52:*:*:*:*:*:*:*",
    }],
    ["smtp", "mail.lab.test ESMTP Postfix (Debian/GNU)", {
      vendor: "Postfix", product: "Postfix smtpd", distribution: "Debian", cpe: "cpe:2.3:a:postfix:postfix:*:*:*:*:*:*:*:*",
    }],
    ["ftp", "ProFTPD Server (Debian) [10.0.0.1]", {
      vendor: "ProFTPD", product: "ProFTPD", distribution: "Debian", cpe: "cpe:2.3:a:proftpd:proftpd:*:*:*:*:*:*:*:*",
    }],
    ["dns-version", "9.18.28-1~deb12u2-Debian", {
      vendor: "ISC", product: "ISC BIND", version: "9.18.28", distribution: "Debian 12", package_version: "1:9.18.28-1~deb12u2",
      cpe: "cpe:2.3:a:isc:bind:9.18.28:*:*:*:*:*:*:*",
    }],
    ["smb-native-lm", "Samba 4.17.12-Debian", {
      vendor: "Samba", product: "Samba smbd", version: "4.17.12", distribution: "Debian", cpe: "cpe:2.3:a:samba:samba:4.17.12:*:*:*:*:*:*:*",
    }],
  ])("is read from %s: %s", (kind, text, expected) => {
    expect(softwareOf(kind, text)).toMatchObject(expected);
  });

  test("is nothing where no product is named, and its build is not named alone", () => {
    expect(readSoftware([claim("product", "\u0007", "x")])).toBeNull();
    expect(readSoftware([claim("version", "1.0", "x"), claim("cpe", "cpe:2.3:a:a:b:*:*:*:*:*:*:*:*", "x")])).toBeNull();
    expect(readAnswer("http-server", "who-knows (Debian)").filter(({ field }) => field === "distribution")).toEqual([]);
  });

  test("is that of the surest product, with the version that its own witnesses report", () => {
    const software = readSoftware([
      claim("product", "nginx", "http-server"), claim("version", "1.22.1", "http-server"), claim("cpe", "cpe:2.3:a:f5:nginx:*:*:*:*:*:*:*:*", "http-server"),
      claim("product", "Grafana", "favicon", 0.5), claim("version", "10.1", "favicon", 0.99), claim("vendor", "Grafana", "favicon", 0.99),
    ]);
    expect(software).toMatchObject({ product: "nginx", version: "1.22.1", vendor: "", cpe: "cpe:2.3:a:f5:nginx:1.22.1:*:*:*:*:*:*:*" });
    expect(software?.confidence).toBeLessThan(0.9);
  });

  test("is one line within its limits, whatever a banner says", () => {
    const hostile = ["a\u0000b\u001b[2J\r\n", "\u202e x".repeat(500), "\ud83d".repeat(300), "\u{1f4a9}".repeat(300), " ".repeat(9999), "x".repeat(99_999)];
    for (const text of hostile) {
      const software = readSoftware([claim("product", `p${text}`, "x"), claim("version", text, "x"), claim("cpe", "x".repeat(9999), "x")]);
      expect(software?.product.length).toBeLessThanOrEqual(128);
      expect(`${software?.product}${software?.version}`).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      expect(software?.cpe).toBe("");
    }
  });
});

describe("the software of a host", () => {
  test.each<[AnswerKind, string, object]>([
    ["ssh", "OpenSSH_9.2p1 Debian-2+deb12u3", { vendor: "Debian", product: "Debian", version: "12", distribution: "Debian 12" }],
    ["snmp-description", "Cisco IOS Software, C2960 Software (C2960-LANBASEK9-M), Version 15.0(2)SE4, RELEASE SOFTWARE (fc1)", {
      vendor: "Cisco", product: "Cisco IOS", version: "15.0(2)SE4", cpe: "cpe:2.3:o:cisco:ios:15.0\\(2\\)se4:*:*:*:*:*:*:*",
    }],
    ["snmp-description", "Brother NC-8300w, Firmware Ver.1.05, MID 84U-E00 Laser Printer", {
      vendor: "Brother", product: "NC-8300w firmware", version: "1.05", cpe: "cpe:2.3:o:brother:nc-8300w_firmware:1.05:*:*:*:*:*:*:*",
    }],
    ["snmp-description", "Linux gw 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) x86_64", {
      vendor: "Linux", product: "Linux", version: "6.1.0-18-amd64", distribution: "Debian", package_version: "6.1.76-1",
      cpe: "cpe:2.3:o:linux:linux_kernel:6.1.76:*:*:*:*:*:*:*",
    }],
    ["smb-native-os", "Windows Server 2016 Standard 14393", { vendor: "Microsoft", product: "Windows Server 2016", version: "10.0.14393", edition: "Standard" }],
    ["ftp", "gw FTP server MikroTik FTP server (MikroTik 6.49.10) ready", { vendor: "MikroTik", product: "RouterOS", version: "6.49.10" }],
  ])("is read from %s: %s", (kind, text, expected) => {
    expect(readHostSoftware(readAnswer(kind, text))).toMatchObject([{ source: kind, ...expected }]);
  });

  test("is of each source what that says, and nothing that is a kind of systems only", () => {
    const claims = [...readAnswer("ssh", "OpenSSH_9.2p1 Debian-2+deb12u3"), ...readAnswer("http-server", "Apache/2.4.62 (Unix)"), ...readAnswer("ftp", "nothing")];
    expect(readHostSoftware(claims).map(({ source, product }) => [source, product])).toEqual([["ssh", "Debian"]]);
  });
});
