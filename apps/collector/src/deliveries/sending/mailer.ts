import { createTransport } from "nodemailer";

/** A message in plain text. Each of `to` sees the others. */
export interface Mail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
}

/** Hands mail to a server. */
export interface Mailer {
  /** @throws Error when the server does not take it, for any of the recipients. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  /** `tls` from the first byte, `starttls` or nothing is sent, or `none`. */
  readonly security: "tls" | "starttls" | "none";
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly from: string;
}

const CONNECT_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 30_000;

/**
 * Connects for each mail. A server gets 10 s to connect and 30 s for each answer. Without `username` it does not log in.
 * @see RFC 5321, RFC 3207 (STARTTLS)
 */
export function createSmtpMailer({ host, port, security, username, password, from }: SmtpOptions): Mailer {
  const transport = createTransport({
    host, port, secure: security === "tls", requireTLS: security === "starttls", ignoreTLS: security === "none",
    ...(username !== undefined && { auth: { user: username, pass: password ?? "" } }),
    connectionTimeout: CONNECT_TIMEOUT_MS, greetingTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SILENCE_TIMEOUT_MS,
    disableFileAccess: true, disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text }) {
      const { rejected } = await transport.sendMail({ from, to: [...to], subject, text });
      if (rejected.length > 0) throw new Error(`the mail server refused ${rejected.length} of ${to.length} recipients`);
    },
    close: () => transport.close(),
  };
}
