"""MiniWoB++ (Farama, MIT): small tasks on web pages that bring their own reward, done as a desktop user does them."""
