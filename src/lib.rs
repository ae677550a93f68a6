//! eggshade: facade (front end and back end together).
