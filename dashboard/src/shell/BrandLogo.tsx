import type { Brand } from '../shared/useBrand';
import productLogo from '../theme/logo.svg';
import classes from './Brand.module.css';

/** How many times as wide as high a logo may be. */
const MAX_RATIO = 3;

interface Props {
  /** Keeps the space of the logo until it is known. */
  brand: Brand | undefined;
  size: number;
}

/** A logo of the installation has its name as alternative text; that of the product stands beside the name. */
export function BrandLogo({ brand, size }: Props) {
  if (!brand) return <div style={{ height: size }} />;
  if (!brand.logo) return <img src={productLogo} alt="" width={size} height={size} />;
  return (
    <img
      src={brand.logo}
      alt={brand.name}
      className={classes.logo}
      style={{ height: size, maxWidth: size * MAX_RATIO }}
    />
  );
}
