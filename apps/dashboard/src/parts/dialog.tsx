import { type ReactNode, type SyntheticEvent, useEffect, useId, useRef } from "react";
import { Button } from "./button.tsx";
import styles from "./dialog.module.css";
import { Icon } from "./icon.tsx";

/** The browser's own modal dialog: it holds the focus, ends with Escape, and gives the focus back. */
export function Dialog({ title, onClose, children, isBare = false }: {
  readonly title: string; readonly onClose: () => void; readonly children: ReactNode;
  /** Whether the title is for screen readers only. */
  readonly isBare?: boolean;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    element.current?.showModal();
    element.current?.querySelector<HTMLElement>("[data-first], input, select, textarea")?.focus();
  }, []);
  /** At once: the browser says that it was closed some time later, and the next key would meet it half open. */
  const end = () => {
    element.current?.close();
    onClose();
  };
  const onCancel = (event: SyntheticEvent) => {
    if (event.target !== element.current) return;
    event.preventDefault();
    end();
  };
  return (
    <dialog
      ref={element} className={styles["dialog"]} aria-labelledby={titleId} onCancel={onCancel} onClose={onClose}
      onClick={(event) => event.target === element.current && end()}
    >
      <div className={styles["inside"]}>
        <header className={isBare ? styles["hidden"] : styles["head"]}>
          <h2 id={titleId}>{title}</h2>
          {!isBare && <Button kind="quiet" onClick={end} aria-label="Close"><Icon name="close" /></Button>}
        </header>
        {children}
      </div>
    </dialog>
  );
}
