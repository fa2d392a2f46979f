import * as z from "zod";

/** `[token]`: At most 24 days: a timer that ends a stream with its token holds no more than 2^31 ms. */
export const TokenSettings = z.strictObject({
  lifetime_seconds: z.int().min(60).max(2_073_600).default(86_400),
  /** Tokens are signed with HS256 and this secret, which seals stored answers too; without it one is made in the data directory. */
  secret: z.string().min(32).optional(),
  /** Signs tokens with EdDSA instead: an Ed25519 private key (PEM, PKCS #8), so that others can check them with the public one. */
  key_file: z.string().min(1).optional(),
}).prefault({});

/** `[admin]`: The first user. */
export const AdminSettings = z.strictObject({ password: z.string().min(1).max(1024).optional() }).prefault({});
