import styles from "./integrations-page.module.css";

const SNIPPETS = {
  "Node.js": `import { createHmac, timingSafeEqual } from "node:crypto";

// body: the raw bytes, before any parser; header: X-Service-Signature
function isGenuine(body, header, secret) {
  const wanted = Buffer.from("sha256=" + createHmac("sha256", secret).update(body).digest("hex"));
  const given = Buffer.from(header ?? "");
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}`,
  Python: `import hashlib, hmac

def is_genuine(body: bytes, header: str, secret: str) -> bool:
    wanted = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(header.encode(), wanted.encode())`,
  Go: `func IsGenuine(body []byte, header, secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	wanted := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(header), []byte(wanted))
}`,
  PHP: `function is_genuine(string $body, string $header, string $secret): bool {
    return hash_equals('sha256=' . hash_hmac('sha256', $body, $secret), $header);
}`,
} as const;

/** The same check in four languages. */
export function Verification() {
  return (
    <div className={styles["languages"]}>
      <p>Each delivery carries X-Service-Signature: sha256= and the HMAC-SHA256 of the body's raw bytes in hexadecimal. Compare it in constant time.</p>
      {Object.entries(SNIPPETS).map(([language, text]) => (
        <details key={language}><summary>{language}</summary><pre tabIndex={0}>{text}</pre></details>
      ))}
    </div>
  );
}
