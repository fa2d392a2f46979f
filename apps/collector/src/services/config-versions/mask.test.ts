import { processorMs } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { maskLines } from "./mask.ts";

/** As devices write them; what must not be seen is between « and ». */
const LINES = [
  "enable secret 5 «$1$mERr$hx5rVt7rPNoS4wqbXKX7m0»", "enable password «7 0822455D0A16»",
  "username admin privilege 15 password 0 «hunter2hunter2»",
  "username ops secret 9 «$9$nhEmQVczB7dqsO$X.HsgL6x1il0RxkOSSvyQYwucySCt7qFm4v7pqCxkKM»", "snmp-server community «geheim» RO 10",
  "snmp-server user mon grp v3 auth sha «authgeheim» priv aes 128 «privgeheim»", "snmp-server host 10.0.0.1 version 2c community «geheim»",
  "tacacs-server key 7 «0822455D0A16»", "radius-server host 10.0.0.5 key «geheim»", "crypto isakmp key «geheim» address 192.0.2.1",
  " key-string «geheim»", " ip ospf message-digest-key 1 md5 «geheim»", " neighbor 192.0.2.2 password «geheim»",
  " ppp chap password 0 «geheim»", " wpa-psk ascii 0 «geheim»", " pre-shared-key local «geheim»", "ntp authentication-key 1 md5 «geheim»",
  "standby 1 authentication md5 key-string «geheim»", '    encrypted-password "«$6$salt$hash»"; ## SECRET-DATA',
  '        secret "«$9$abc»"; ## SECRET-DATA', "set snmp community «geheim» authorization read-only",
  "        set password ENC «AK1abcdef==»", "        set psksecret ENC «abcdef==»",
  "/ppp secret add name=vpn password=«geheim» service=l2tp", "set [ find default=yes ] wpa2-pre-shared-key=«geheim»",
  "  <phash>«$1$abc$def»</phash>", "    <password>«geheim»</password>", 'rocommunity "«geheim»"',
  "password manager user-name \"admin\" plaintext «geheim»", "api-token: «geheim»",
];
/** What only looks like it. */
const PLAIN = [
  "service password-encryption", "hostname sw-store12", "interface GigabitEthernet0/1", "crypto key generate rsa modulus 2048",
  "key chain OSPF", " key 1", " ip address 10.0.0.1 255.255.255.0", "no ip http server", "ntp server 10.0.0.1",
  " description uplink to core", "aaa new-model", "ip ssh version 2",
];

test("secrets are hidden, as every maker writes them", () => {
  const hidden = LINES.map((line) => line.replaceAll(/[«»]/g, ""));
  const masked = maskLines(hidden);
  LINES.forEach((line, index) => {
    const secrets = [...line.matchAll(/«([^»]+)»/g)].map((match) => match[1] ?? "");
    expect({
      line, masked: masked[index], seen: secrets.filter((secret) => masked[index]?.includes(secret)),
    }).toMatchObject({ line, seen: [] });
    expect(masked[index]).toContain("[secret]");
  });
});

test("what is no secret is seen", () => {
  expect(maskLines(PLAIN)).toEqual(PLAIN);
});

test("a private key is hidden to its end, and a certificate is not", () => {
  const key = [
    "set private-key \"-----BEGIN ENCRYPTED PRIVATE KEY-----", "MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQ",
    "-----END ENCRYPTED PRIVATE KEY-----\"", "next",
  ];
  expect(maskLines(key).join("\n")).not.toMatch(/MIIF|BEGIN/);
  expect(maskLines(key).at(-1)).toBe("next");
  const certificate = ["-----BEGIN CERTIFICATE-----", "MIIC", "-----END CERTIFICATE-----"];
  expect(maskLines(certificate)).toEqual(certificate);
});

test("lines stay as many, and a hostile one takes no time", () => {
  const hostile = [
    "password ".repeat(50_000), "key ".repeat(100_000), "$1$".repeat(100_000), " ".repeat(400_000), "auth sha".repeat(50_000),
  ];
  let masked: ReturnType<typeof maskLines> = [];
  expect(processorMs(() => (masked = maskLines(hostile)))).toBeLessThan(2000);
  expect(masked.length).toBe(hostile.length);
});
