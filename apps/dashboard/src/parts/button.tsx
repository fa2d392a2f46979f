import type { ButtonHTMLAttributes } from "react";
import styles from "./button.module.css";

/** A button. `danger` is for what cannot be undone. */
export function Button({ kind = "plain", className, type = "button", ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
}) {
  // oxlint-disable-next-line react/button-has-type
  return <button {...rest} type={type} className={[styles["button"], styles[kind], className].filter(Boolean).join(" ")} />;
}
