import type { ButtonHTMLAttributes, MouseEvent } from "react";
import styles from "./button.module.css";

/**
 * A button. `danger` is for what cannot be undone. One that is disabled keeps the focus, so that who works with the
 * keyboard stays at the place while an answer is on its way; a press, and Enter in its form, do nothing.
 */
export function Button({ kind = "plain", className, type = "button", disabled = false, onClick, ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
}) {
  // oxlint-disable-next-line react/button-has-type
  return <button {...rest} type={type} aria-disabled={disabled || undefined} onClick={disabled ? ignore : onClick} className={[styles["button"], styles[kind], className].filter(Boolean).join(" ")} />;
}

function ignore(event: MouseEvent): void {
  event.preventDefault();
  event.stopPropagation();
}
