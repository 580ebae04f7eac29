import { Drawer } from '@mantine/core';
import { useEffect } from 'react';
import type { User } from '../../../api/session';
import { type Token, useTokenVersion } from '../../../api/tokens';
import { DiscardContext, useDiscard } from '../../../shared/form/discard';
import { notifyFailure } from '../../../shared/notify';
import { useLastDefined } from '../../../shared/useLastDefined';
import { useLoaded } from '../../../shared/useLoaded';
import { texts } from '../../../texts';
import type { Fix } from './fix';
import classes from './KeyFormDrawer.module.css';
import { OtherOwnerContext } from './owner';

interface Props {
  opened: boolean;
  /** The token to edit. Absent for a new token. */
  token?: Token;
  /** A new token begins with the settings of this one. */
  template?: Token;
  /** What to change in the token. */
  fix?: Fix;
  /** Its owner, if that is somebody else. Then the created token has no key. */
  owner?: User;
  onCreated?: (token: Token) => void;
  onClose: () => void;
}

/** Most visits open no form, and it needs many components. */
const loadForm = () => import('./KeyForm');

export function KeyFormDrawer({ opened, token, template, fix, owner, onCreated, onClose }: Props) {
  const { KeyForm } = useLoaded(loadForm, opened) ?? {};
  const { data: known, error } = useTokenVersion(opened ? token?.id : undefined, !owner);
  useEffect(() => {
    if (!error) return;
    notifyFailure(error);
    onClose();
  }, [error, onClose]);
  // The focus goes to the form, so it must be there, with the key as it is now.
  const isReady = KeyForm !== undefined && (!token || known !== undefined);
  const { context, question, props: closing } = useDiscard(opened && isReady, onClose);
  const shown = useLastDefined(token);
  const copied = useLastDefined(template);
  const { createTitle, editTitle, duplicateTitle } = texts.keys.form;
  const createOrOther = owner ? texts.keys.form.ofOther.createTitle(owner.username) : createTitle;
  const newTitle = copied ? duplicateTitle(copied.name) : createOrOther;

  return (
    <>
      <Drawer
        opened={opened && isReady}
        {...closing}
        position="right"
        size={520}
        padding="lg"
        title={shown ? editTitle(shown.name) : newTitle}
        overlayProps={{ backgroundOpacity: 0.5 }}
        closeButtonProps={{ 'aria-label': texts.common.close }}
        attributes={{ header: { role: 'presentation' } }}
        classNames={classes}
      >
        {KeyForm && (
          <DiscardContext value={context}>
            <OtherOwnerContext value={owner}>
              <KeyForm
                known={known}
                template={copied}
                fix={fix}
                onCreated={(created) => {
                  onClose();
                  onCreated?.(created);
                }}
                onClose={onClose}
              />
            </OtherOwnerContext>
          </DiscardContext>
        )}
      </Drawer>
      {question}
    </>
  );
}
